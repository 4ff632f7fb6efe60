package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/page"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/cmd/turnspec/internal/transcript"
)

func chatCmd() *cobra.Command {
	var asJSON, full bool
	var log, htmlFile string
	cmd := &cobra.Command{
		Use:   "chat [FILE] | chat --log FILE [SESSION]",
		Short: "Turn events into the chat that a user would see",
		Long: `Chat reads events from a file or from stdin, and prints the chat that they make. The
events may be in any order: seq decides.

FILE holds one JSON object per line, server-sent events as curl -N saves them from turnspec
serve, an array of events, a page of its history, or JSON over several lines, in UTF-8 or
UTF-16. What is not an event is left out, and chat reports on stderr how much that is and the
first of it.

With --log it prints a session of an event log. SESSION may be left out if the log
has only one.

With --html it writes the chat as one HTML file, which needs no network: a slider
replays the session in its own time.

Exit codes: 0 printed, 1 nothing was understood, 2 the input cannot be read.`,
		Example: `  turnspec chat events.jsonl
  turnspec normalize claude transcript.jsonl | turnspec chat
  turnspec chat --full events.jsonl
  turnspec chat --json events.jsonl
  turnspec chat --html chat.html events.jsonl
  turnspec chat --log chats.db s1`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if log == "" {
				return nil, cobra.ShellCompDirectiveDefault
			}
			return completeSession(cmd, append([]string{log}, args...), word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			events, err := chatEvents(cmd, log, args)
			if err != nil {
				return err
			}
			if htmlFile != "" {
				return writePage(htmlFile, cmp.Or(strings.Join(args, " "), log, "Chat"), events)
			}
			chat := replay.Reduce(events)
			var b bytes.Buffer
			if asJSON {
				j, err := chat.JSON()
				if err != nil {
					return err
				}
				b.Write(append(bytes.TrimRight(j, "\n"), '\n'))
			} else if err := chat.Render(&b, replay.RenderOptions{Color: styleOf(cmd.OutOrStdout()).Color, Thinking: full, Output: full}); err != nil {
				return err
			}
			_, err = b.WriteTo(cmd.OutOrStdout())
			return err
		},
	}
	cmd.Flags().StringVar(&log, "log", "", "show a session of this event log")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&full, "full", false, "print reasoning and tool output in full")
	cmd.Flags().StringVar(&htmlFile, "html", "", "write a page to this file")
	cmd.MarkFlagsMutuallyExclusive("json", "full", "html")
	return cmd
}

// writePage writes a page that replays a session.
func writePage(file, title string, events []event.Event) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(page.Record(title, events).Write(f), f.Close())
}

// chatEvents returns the events of a stream, or of a session in a log.
func chatEvents(cmd *cobra.Command, log string, args []string) (events []event.Event, err error) {
	if log != "" {
		err = withLog(cmd, log, func(ctx context.Context, l eventlog.Log) error {
			session, err := sessionOf(ctx, l, log, args)
			if err != nil {
				return err
			}
			for e, err := range eventlog.All(ctx, l, session, 0) {
				if err != nil {
					return err
				}
				events = append(events, e)
			}
			return nil
		})
		return events, err
	}
	in, name, err := input(cmd, args)
	if err != nil {
		return nil, err
	}
	events, err = readForms(in, name, cmd.ErrOrStderr())
	return events, errors.Join(err, in.Close())
}

// readForms returns the events of a file in any of the forms of package transcript. It reports
// on errOut what is not an event.
func readForms(in io.Reader, name string, errOut io.Writer) (events []event.Event, err error) {
	var messages, unread int
	var first string
	var whose reference.Adapter // the runtime that wrote the first message that is known
	for r := transcript.NewReader(in); ; {
		message, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, linereader.ErrTooLong) {
			return nil, fmt.Errorf("%s:%d: %w", name, r.Line(), err)
		}
		for _, m := range eventsIn(message) {
			messages++
			e, err := event.Decode(m)
			if err == nil {
				events = append(events, e)
				continue
			}
			if unread++; unread == 1 {
				first = fmt.Sprintf("on line %d: %v: %q", r.Line(), err, m[:min(len(m), longestShown)])
			}
			if whose == nil {
				whose = reference.Recognize(m)
			}
		}
	}
	if messages == 0 {
		return nil, fmt.Errorf("%s is empty: give it events", name)
	}
	if unread > 0 {
		fmt.Fprintf(errOut, "turnspec: %s: not read: %d of %d messages; the first, %s\n", name, unread, messages, first)
	}
	switch {
	case len(events) > 0:
		return events, nil
	case whose != nil:
		if name == "stdin" {
			name = "-"
		}
		runtime := whose.Capabilities().Runtime
		fmt.Fprintf(errOut, "turnspec: this is the output of %s: turnspec normalize %s %s | turnspec chat\n", runtime, runtime, name)
	default:
		fmt.Fprintf(errOut, "turnspec: nothing in %s was understood: it needs events, as turnspec normalize writes them\n", name)
	}
	return nil, errFailed
}

// eventsIn returns the events of a message: itself, or those of a page of a history.
func eventsIn(message []byte) [][]byte {
	var page struct {
		Events []jsontext.Value `json:"events"`
		Seq    jsontext.Value   `json:"last_seq"`
	}
	if json.Unmarshal(message, &page) != nil || page.Seq == nil {
		return [][]byte{message}
	}
	out := make([][]byte, len(page.Events))
	for i, e := range page.Events {
		out[i] = e
	}
	return out
}

func readEvents(in io.Reader, name string) (out []event.Event, err error) {
	err = eachEvent(in, name, func(e event.Event) error {
		out = append(out, e)
		return nil
	})
	return out, err
}

// eachEvent reads events up to the end or the first invalid one.
func eachEvent(in io.Reader, name string, do func(event.Event) error) error {
	decoder := event.NewDecoder(in)
	for {
		e, err := decoder.Next()
		var bad *event.LineError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			return fmt.Errorf("%s:%d: %w", name, bad.Line, bad.Err)
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := do(e); err != nil {
			return err
		}
	}
}
