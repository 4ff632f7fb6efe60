package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/backend/acpagent"
	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/runner/message"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
)

func emitCmd() *cobra.Command {
	var log, session string
	var sse bool
	cmd := &cobra.Command{
		Use:   "emit DIALECT [CASE|FILE] | emit DIALECT --log FILE [SESSION]",
		Short: "Translate events to a vocabulary that front ends read",
		Long: `Emit translates events and writes the messages, one JSON object per line. The events are
those that the reference adapter makes of a case, or of a file or stdin, one JSON object per
line, or of a session of an event log. SESSION may be left out if the log has only one.

  agentui             the event classes of Agent UI; a session is one stream
  agui                the events of AG-UI 1.0
  uistream            the UI message stream of the AI SDK, versions 6 and 7
  uistream-approvals  the same, with tool approvals, for version 7
  wsmessages          messages over a WebSocket, with one text per response
  runner              the messages of turnspec runner, without those that concern its commands
  acp                 what turnspec agent writes to a client whose prompts have the ids 1, 2, 3, ...

With --sse it writes server-sent events, as a server does: a stream for each turn.

If events of several sessions come from a case, a file or stdin, their messages alternate as the
events do; --session chooses one.`,
		Example: `  turnspec emit uistream claude/newest/permission/allow
  turnspec emit agui --sse 'codex/*/text/plain'
  turnspec normalize claude transcript.jsonl | turnspec emit uistream
  turnspec emit uistream --log chats.db s1`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return complete(emitNames)(cmd, args, word)
			case log != "":
				return completeSession(cmd, append([]string{log}, args[1:]...), word)
			}
			return complete(caseIDs)(cmd, args, word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			d, ok := dialects.Of(args[0])
			for _, of := range ofPrograms {
				if of.Name == args[0] {
					d, ok = of, true
				}
			}
			if !ok {
				return fmt.Errorf("no dialect %q: use one of %s", args[0], strings.Join(emitNames(), ", "))
			}
			var err error
			out := bufio.NewWriter(cmd.OutOrStdout())
			w := emitter{dialect: d, sse: sse, out: out, sessions: map[string]func(event.Event) []dialects.Message{}}
			add := func(e event.Event) error {
				if session != "" && e.SessionID != session {
					return nil
				}
				return w.add(e)
			}
			if log != "" {
				err = emitLog(cmd, log, args[1:], add)
			} else {
				err = emitEvents(cmd, args[1:], add)
			}
			return errors.Join(err, out.Flush())
		},
	}
	cmd.Flags().StringVar(&log, "log", "", "translate a session of this event log")
	cmd.Flags().StringVar(&session, "session", "", "translate this session only")
	cmd.Flags().BoolVar(&sse, "sse", false, "write server-sent events")
	cmd.MarkFlagsMutuallyExclusive("log", "session")
	return cmd
}

// ofPrograms are the messages that programs write, which no server can send.
var ofPrograms = []dialects.Dialect{
	{Name: "runner", New: func() func(event.Event) []dialects.Message {
		var t message.Translator
		return func(e event.Event) (out []dialects.Message) {
			for _, m := range t.Translate(e) {
				line, err := message.Encode(m)
				if err == nil { // it fails only for a type that cannot be JSON
					out = append(out, dialects.Message{Line: bytes.TrimSuffix(line, []byte("\n"))})
				}
			}
			return out
		}
	}},
	{Name: "acp", New: func() func(event.Event) []dialects.Message {
		var t acpagent.Translator
		return func(e event.Event) (out []dialects.Message) {
			for _, m := range t.Translate(e) {
				out = append(out, dialects.Message{Line: m.Encode()})
			}
			return out
		}
	}},
}

// emitNames lists what emit writes.
func emitNames() []string {
	out := dialects.Names()
	for _, d := range ofPrograms {
		out = append(out, d.Name)
	}
	return out
}

// emitEvents calls do for the events of a case, a file or stdin.
func emitEvents(cmd *cobra.Command, args []string, do func(event.Event) error) error {
	if len(args) == 1 && args[0] != "-" {
		if _, err := os.Stat(args[0]); err != nil {
			return emitCase(args[0], do)
		}
	}
	in, name, err := input(cmd, args)
	if err != nil {
		return err
	}
	return errors.Join(eachEvent(in, name, do), in.Close())
}

// emitCase calls do for the events of a stored case, which the reference adapter makes of it.
func emitCase(glob string, do func(event.Event) error) error {
	corpus := fixtures.Embedded()
	c, err := oneCase(corpus, glob)
	if err != nil {
		return err
	}
	events, err := shownEvents(corpus, c)
	for _, e := range events {
		if err == nil {
			err = do(e)
		}
	}
	return err
}

// emitLog calls do for the events of a session of a log.
func emitLog(cmd *cobra.Command, file string, args []string, do func(event.Event) error) error {
	return withLog(cmd, file, func(ctx context.Context, l eventlog.Log) error {
		session, err := sessionOf(ctx, l, file, args)
		if err != nil {
			return err
		}
		for e, err := range eventlog.All(ctx, l, session, 0) {
			if err == nil {
				err = do(e)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// emitter writes the messages of events.
type emitter struct {
	dialect  dialects.Dialect
	sse      bool
	out      *bufio.Writer
	sessions map[string]func(event.Event) []dialects.Message
}

// add writes the messages of an event, and flushes them: its reader may follow a live session.
func (w emitter) add(e event.Event) error {
	translate := w.sessions[e.SessionID]
	if translate == nil {
		translate = w.dialect.New()
		w.sessions[e.SessionID] = translate
	}
	messages := translate(e)
	for _, m := range messages {
		if !w.sse {
			fmt.Fprintf(w.out, "%s\n", m.Line)
			continue
		}
		fmt.Fprintf(w.out, "data: %s\n\n", m.Line)
		if m.Ends && w.dialect.AfterStream != "" {
			fmt.Fprintf(w.out, "data: %s\n\n", w.dialect.AfterStream)
		}
	}
	if len(messages) == 0 {
		return nil
	}
	return w.out.Flush()
}
