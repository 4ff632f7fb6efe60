package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/event"
)

func logCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Store events in a file; list, print and follow its sessions",
		Long: `Log works on an event log: a file with the events of any number of sessions, each
without gaps and in the order of seq. Other programs may write to it at the same
time. ` + "`turnspec chat --log FILE`" + ` prints a session as a chat.

Exit codes: 0 success, 1 the events cannot be stored or read (a different event
with the same seq, a gap, damage), 2 wrong use or no such file.`,
		Example: `  turnspec normalize claude transcript.jsonl | turnspec log append chats.db
  turnspec log ls chats.db
  turnspec log show chats.db s1 --after 40
  turnspec log follow chats.db s1 --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(logAppendCmd(), logListCmd(), logShowCmd(), logMediaCmd(), logFollowCmd())
	return cmd
}

func logAppendCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "append FILE [EVENTS]",
		Short: "Append events to a log; create it if needed",
		Long: `Append reads events, one JSON object per line, from a file or from stdin, and
stores them as they arrive. Appending events that are stored already changes
nothing. Append stops at an invalid line, or at an event that does not continue its
session; the events before it are stored.`,
		Example: `  turnspec normalize codex wire.jsonl | turnspec log append chats.db
  turnspec log append chats.db events.jsonl`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in, name, err := input(cmd, args[1:])
			if err != nil {
				return err
			}
			defer func() { _ = in.Close() }()
			log, err := sqlite.Open(cmd.Context(), args[0], sqlite.Options{})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, log.Close()) }()
			return logged(cmd, appendEvents(log, in, name))
		},
	}
}

// appendEvents stores the events of a stream.
func appendEvents(log eventlog.Log, in io.Reader, name string) error {
	events, failed := make(chan event.Event), make(chan error, 1)
	recorder := eventlog.Record(log, events, eventlog.RecorderOptions{})
	go func() {
		defer close(events)
		failed <- eachEvent(in, name, func(e event.Event) error {
			events <- e
			return recorder.Err()
		})
	}()
	for range recorder.Events() { // there is no other listener
	}
	if err := recorder.Err(); err != nil {
		return err
	}
	return <-failed
}

func logListCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls FILE",
		Short: "List the sessions of a log, newest first",
		Example: `  turnspec log ls chats.db
  turnspec log ls chats.db --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLog(cmd, args[0], func(ctx context.Context, log eventlog.Log) error {
				infos, err := log.Sessions(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					if infos == nil {
						infos = []eventlog.Info{}
					}
					return printJSON(cmd.OutOrStdout(), infos)
				}
				table := [][]string{{"session", "runtime", "turns", "events", "first", "latest", "title"}}
				for _, i := range infos {
					table = append(table, []string{
						i.SessionID, i.Runtime, strconv.Itoa(i.Last.Turn), strconv.FormatInt(i.Last.Seq, 10),
						i.First.Format(time.DateTime), i.Latest.Format(time.DateTime), i.Title,
					})
				}
				return printTable(cmd.OutOrStdout(), table)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func logShowCmd() *cobra.Command {
	var asJSON bool
	var after int64
	cmd := &cobra.Command{
		Use:   "show FILE [SESSION]",
		Short: "Print the events of a session",
		Long: `Show prints the events of a session in order: seq, time, turn, type and the
beginning of the data; with --json the events themselves, one per line. SESSION may
be left out if the log has only one.`,
		Example: `  turnspec log show chats.db
  turnspec log show chats.db s1 --after 40
  turnspec log show chats.db s1 --json | turnspec chat`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLog(cmd, args[0], func(ctx context.Context, log eventlog.Log) error {
				session, err := sessionOf(ctx, log, args[0], args[1:])
				if err != nil {
					return err
				}
				out := bufio.NewWriter(cmd.OutOrStdout())
				show := eventPrinter(out, asJSON)
				for e, err := range eventlog.All(ctx, log, session, after) {
					if err == nil {
						err = show(e)
					}
					if err != nil {
						return errors.Join(err, out.Flush())
					}
				}
				return out.Flush()
			})
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "start after this seq")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the events as JSON, one per line")
	return cmd
}

func logFollowCmd() *cobra.Command {
	var asJSON, forever bool
	var after int64
	var poll time.Duration
	cmd := &cobra.Command{
		Use:   "follow FILE [SESSION]",
		Short: "Print the events of a session, and new ones as they are appended",
		Long: `Follow prints the events of a session as show does, and then each new event, until
the session ends. A session that is named need not exist yet. With --forever it goes on after
the end, because a session may be resumed, until it is interrupted.`,
		Example: `  turnspec log follow chats.db
  turnspec log follow chats.db s1 --after 40 --json
  turnspec log follow chats.db s1 --forever`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if poll <= 0 {
				return fmt.Errorf("--poll %v: want a time such as 100ms", poll)
			}
			return withPolledLog(cmd, args[0], poll, func(ctx context.Context, log eventlog.Log) error {
				session := strings.Join(args[1:], "")
				if session == "" {
					var err error
					if session, err = sessionOf(ctx, log, args[0], nil); err != nil {
						return err
					}
				}
				if !forever {
					if ended, err := endsAt(ctx, log, session, after); err != nil || ended {
						return err
					}
				}
				show := eventPrinter(cmd.OutOrStdout(), asJSON)
				for e, err := range log.Follow(ctx, session, after) {
					if err == nil {
						err = show(e)
					}
					if err != nil {
						return err
					}
					if e.Type() != event.TypeSessionEnd || forever {
						continue
					}
					if ended, err := endsAt(ctx, log, session, e.Seq); err != nil || ended {
						return err
					}
				}
				return nil
			})
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "start after this seq")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the events as JSON, one per line")
	cmd.Flags().BoolVar(&forever, "forever", false, "go on after the session's end")
	cmd.Flags().DurationVar(&poll, "poll", 100*time.Millisecond, "how often to look for new events")
	return cmd
}

// endsAt reports whether the log holds nothing of a session after seq and its last event is
// session_end.
func endsAt(ctx context.Context, log eventlog.Log, session string, seq int64) (bool, error) {
	info, err := log.Session(ctx, session)
	if errors.Is(err, eventlog.ErrUnknownSession) {
		return false, nil
	}
	if err != nil || info.Last.Seq > seq {
		return false, err
	}
	last, err := log.Read(ctx, session, info.Last.Seq-1, 1)
	return len(last) == 1 && last[0].Type() == event.TypeSessionEnd, err
}

func withLog(cmd *cobra.Command, file string, do func(context.Context, eventlog.Log) error) error {
	return withPolledLog(cmd, file, 0, do)
}

// withPolledLog opens a log for reading.
func withPolledLog(cmd *cobra.Command, file string, poll time.Duration, do func(context.Context, eventlog.Log) error) (err error) {
	log, err := sqlite.Open(cmd.Context(), file, sqlite.Options{ReadOnly: true, Poll: poll})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	return logged(cmd, do(cmd.Context(), log))
}

// logged maps errors of the log to exit code 1, and other errors to wrong use.
func logged(cmd *cobra.Command, err error) error {
	_, conflict := errors.AsType[*eventlog.ConflictError](err)
	_, gap := errors.AsType[*eventlog.GapError](err)
	_, invalid := errors.AsType[*eventlog.InvalidError](err)
	if conflict || gap || invalid || errors.Is(err, eventlog.ErrCorrupt) {
		fmt.Fprintln(cmd.ErrOrStderr(), "turnspec:", err)
		return errFailed
	}
	return err
}

// sessionOf returns the session that is named, or the only one.
func sessionOf(ctx context.Context, log eventlog.Log, file string, args []string) (string, error) {
	if len(args) > 0 {
		_, err := log.Session(ctx, args[0])
		if errors.Is(err, eventlog.ErrUnknownSession) {
			err = fmt.Errorf("%w; `turnspec log ls %s` lists them", err, quoted(file))
		}
		return args[0], err
	}
	infos, err := log.Sessions(ctx)
	switch {
	case err != nil:
		return "", err
	case len(infos) == 0:
		return "", fmt.Errorf("%s has no session", file)
	case len(infos) > 1:
		return "", fmt.Errorf("%s has %d sessions; name one: `turnspec log ls %s` lists them", file, len(infos), quoted(file))
	}
	return infos[0].SessionID, nil
}

// eventPrinter prints events as lines.
func eventPrinter(out io.Writer, asJSON bool) func(event.Event) error {
	if asJSON {
		return event.NewEncoder(out).Encode
	}
	const most = 100
	return func(e event.Event) error {
		data, err := json.Marshal(e.Data)
		if err != nil {
			return err
		}
		text := []rune(string(data))
		if len(text) > most {
			text = append(text[:most-1], '…')
		}
		turn := "-"
		if e.Turn > 0 {
			turn = strconv.Itoa(e.Turn)
		}
		_, err = fmt.Fprintf(out, "%6d  %s  %3s  %-19s %s\n", e.Seq, e.TS.Format("15:04:05.000000"), turn, e.Type(), string(text))
		return err
	}
}

// completeSession completes the sessions of the log in the first argument.
func completeSession(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	if len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return sessionsIn(cmd.Context(), args[0], word), cobra.ShellCompDirectiveNoFileComp
}

// sessionsIn returns the sessions of a log with a prefix, with their titles.
func sessionsIn(ctx context.Context, file, word string) (out []string) {
	log, err := sqlite.Open(ctx, file, sqlite.Options{ReadOnly: true, Busy: 100 * time.Millisecond})
	if err != nil {
		return nil
	}
	defer func() { _ = log.Close() }() // nothing was written
	infos, _ := log.Sessions(ctx)
	for _, i := range infos {
		if strings.HasPrefix(i.SessionID, word) {
			out = append(out, i.SessionID+"\t"+i.Title)
		}
	}
	return out
}
