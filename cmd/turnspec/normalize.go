package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/event"
	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/cmd/turnspec/internal/transcript"
	"github.com/turnspec/turnspec/fixtures"
)

func normalizeCmd() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "normalize RUNTIME [FILE]",
		Short: "Convert a runtime's output to events",
		Long: `Normalize reads the output of a runtime from a file or from stdin, and writes events as they
occur, one JSON object per line. Its memory is bounded by the longest line or JSON value.

  RUNTIME      the output
  codex        codex app-server; rollout files (~/.codex/sessions)
  codexexec    codex exec --json
  claude       claude -p --output-format stream-json --verbose; session files (~/.claude/projects)
  opencode     opencode serve: GET /event or /global/event; stored messages; opencode export
  opencoderun  opencode run --format json
  pi           pi --mode rpc
  acp          an agent of the Agent Client Protocol over stdio
  chat         a server of chat completions: chunks, or a whole response

FILE holds one JSON value per line, server-sent events as curl -N saves them, an array of
messages, or JSON over several lines, in UTF-8 or UTF-16. HTTP replies may also be in the lines
that Turnspec records. FILE may be a case too, as record and import write it. A transcript may
begin or end anywhere.

What Normalize does not understand becomes a notice; it counts these messages and reports the
first on stderr. Normalize rejects the output of another runtime, and recordings of other tools,
which turnspec import reads.

Exit codes: 0 converted, 1 nothing was understood, 2 the input cannot be read.`,
		Example: `  turnspec normalize claude transcript.jsonl
  claude -p --output-format stream-json --verbose 'Say hello' | turnspec normalize claude
  turnspec normalize codex wire.jsonl | turnspec chat`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return complete(reference.Names)(cmd, args, word)
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if reference.Of(args[0]) == nil {
				return fmt.Errorf("unknown runtime %q; want one of %s", args[0], strings.Join(reference.Names(), ", "))
			}
			in, name, err := input(cmd, args[1:])
			if err != nil {
				return err
			}
			if isCaseFile(name) {
				return errors.Join(normalizeCase(args[0], session, name, in, cmd.OutOrStdout(), cmd.ErrOrStderr()), in.Close())
			}
			defer func() { _ = in.Close() }()
			return normalize(args[0], session, in, name, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().StringVar(&session, "session", "s1", "session_id of the events")
	return cmd
}

// input opens the file that the arguments name, or stdin.
func input(cmd *cobra.Command, args []string) (io.ReadCloser, string, error) {
	if len(args) == 0 || args[0] == "-" {
		return io.NopCloser(cmd.InOrStdin()), "stdin", nil
	}
	f, err := os.Open(args[0])
	return f, args[0], err
}

// normalizeCase writes the events of the output that a case file holds.
func normalizeCase(runtime, session, name string, in io.Reader, out, errOut io.Writer) error {
	b, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	c, err := fixtures.ParseCase(name, strings.TrimSuffix(name, ".txtar"), b)
	if err != nil {
		return err
	}
	if c.Runtime != runtime {
		return fmt.Errorf("%s is a case of %s, not of %s: turnspec normalize %s %s", name, c.Runtime, runtime, c.Runtime, name)
	}
	var lines bytes.Buffer
	for _, l := range c.Wire {
		if l.Dir == fixtures.Out {
			lines.Write(append(slices.Clip(l.Bytes), '\n'))
		}
	}
	return normalize(runtime, session, &lines, name, out, errOut)
}

// normalize writes the events of each message before it reads the next.
func normalize(runtime, session string, in io.Reader, name string, out, errOut io.Writer) error {
	buffer := bufio.NewWriterSize(out, 64<<10)
	encoder := event.NewEncoder(buffer)
	var failed error
	var seen comprehension
	n := reference.Of(runtime).Transcribe(session, func(e event.Event) {
		seen.add(e)
		if failed == nil {
			failed = encoder.Encode(e)
		}
	})
	messages := transcript.NewReader(in)
	checked := false
	for failed == nil {
		message, err := messages.Next()
		switch {
		case errors.Is(err, io.EOF) && seen.messages == 0:
			return fmt.Errorf("%s is empty: give it the output of %s", name, runtime)
		case errors.Is(err, io.EOF):
			seen.ended = true
			n.End()
			return errors.Join(failed, buffer.Flush(), seen.report(errOut, runtime, name))
		case errors.Is(err, linereader.ErrTooLong):
			// The rest is not JSON: the normalizer emits a notice.
		case err != nil:
			return fmt.Errorf("%s:%d: %w", name, messages.Line(), err)
		}
		if !checked {
			known, err := checkSource(message, runtime, name)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", name, messages.Line(), err)
			}
			checked = known
		}
		seen.messages++
		n.Line(time.Now(), message)
		if failed == nil {
			failed = buffer.Flush()
		}
	}
	return failed
}

// comprehension counts what a normalizer does not understand. Notices may come later than
// their messages, when the session is ready.
type comprehension struct {
	messages, unknown int
	first             event.Notice // about what is unknown
	understood        bool         // there are other events than notices
	ended             bool         // the transcript has ended, which has events too
}

func (c *comprehension) add(e event.Event) {
	switch d := e.Data.(type) {
	case event.SessionEnd:
	case event.Notice:
		if d.Code == event.NoticeUnknownMessage || d.Code == event.NoticeGarbage {
			if c.unknown++; c.unknown == 1 {
				c.first = d
			}
		}
	default:
		c.understood = c.understood || !c.ended
	}
}

// report writes how much was not understood, and returns errFailed if nothing was understood.
func (c *comprehension) report(w io.Writer, runtime, name string) error {
	if c.unknown == 0 {
		return nil
	}
	fmt.Fprintf(w, "turnspec: %s: notices about what the adapter of %s does not know: %d, in %d messages; the first: %s\n",
		name, runtime, c.unknown, c.messages, c.firstWords())
	if c.understood {
		return nil
	}
	fmt.Fprintf(w, "turnspec: nothing in %s was understood: is it the output of %s? See turnspec normalize --help\n", name, runtime)
	return errFailed
}

// longestShown is how many bytes of a message that is not understood are shown.
const longestShown = 200

// firstWords returns the first notice about what is unknown, with the message.
func (c *comprehension) firstWords() string {
	text := cmp.Or(c.first.Text, "a message is not known")
	if len(c.first.Raw) > 0 {
		text += ": " + string(c.first.Raw[:min(len(c.first.Raw), longestShown)])
	}
	return text
}

// checkSource reports whether it is known who wrote a line. If that is not the runtime,
// it returns an error that names the right command.
func checkSource(line []byte, runtime, file string) (known bool, err error) {
	if file == "stdin" {
		file = "-"
	}
	if isRecording(line) {
		return true, fmt.Errorf("this is a recording of another tool: turnspec import %s", file)
	}
	a := reference.Recognize(line)
	if a == nil {
		return false, nil
	}
	if whose := a.Capabilities().Runtime; whose != runtime {
		return true, fmt.Errorf("this is the output of %s, not of %s: turnspec normalize %s %s", whose, runtime, whose, file)
	}
	return true, nil
}

// isRecording reports whether a line is one of a recording that another tool made.
func isRecording(line []byte) bool {
	var m struct {
		Type  jsontext.Value `json:"type"`
		Dir   jsontext.Value `json:"dir"`
		Line  jsontext.Value `json:"line"`
		Frame jsontext.Value `json:"frame"`
		Data  jsontext.Value `json:"data"`
	}
	return json.Unmarshal(line, &m, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) == nil &&
		(m.Dir != nil && (m.Line != nil || m.Frame != nil || m.Data != nil) || m.Frame != nil && m.Type != nil)
}
