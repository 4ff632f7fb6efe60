package main

import (
	"bufio"
	"bytes"
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
	"github.com/turnspec/turnspec/fixtures"
)

func normalizeCmd() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "normalize RUNTIME [FILE]",
		Short: "Convert a runtime's output to events",
		Long: `Normalize reads the output of a runtime (codex app-server, codex exec --json, or claude with
--output-format stream-json) from a file or from stdin, and writes events as they
occur, one JSON object per line. Its memory is bounded by the longest line.

FILE may be a case too, as record and import write it. A line that Normalize does not
understand becomes a notice. Normalize rejects the output of
another runtime, and recordings of other tools, which turnspec import reads.`,
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
				return errors.Join(normalizeCase(args[0], session, name, in, cmd.OutOrStdout()), in.Close())
			}
			defer func() { _ = in.Close() }()
			return normalize(args[0], session, in, name, cmd.OutOrStdout())
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
func normalizeCase(runtime, session, name string, in io.Reader, out io.Writer) error {
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
	return normalize(runtime, session, &lines, name, out)
}

// normalize writes the events of each line before it reads the next.
func normalize(runtime, session string, in io.Reader, name string, out io.Writer) error {
	buffer := bufio.NewWriterSize(out, 64<<10)
	encoder := event.NewEncoder(buffer)
	var failed error
	n := reference.Of(runtime).Transcribe(session, func(e event.Event) {
		if failed == nil {
			failed = encoder.Encode(e)
		}
	})
	lines := linereader.NewReader(in, 0)
	checked := false
	for number := 1; failed == nil; number++ {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF) && number == 1:
			return fmt.Errorf("%s is empty: give it the output of %s", name, runtime)
		case errors.Is(err, io.EOF):
			n.End()
			return errors.Join(failed, buffer.Flush())
		case errors.Is(err, linereader.ErrTooLong):
			// The rest is not JSON: the normalizer emits a notice.
		case err != nil:
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if !checked {
			known, err := checkSource(line, runtime, name)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", name, number, err)
			}
			checked = known
		}
		n.Line(time.Now(), line)
		if failed == nil {
			failed = buffer.Flush()
		}
	}
	return failed
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
