package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	linereader "github.com/turnspec/turnspec/adapters/lines"
)

// normalizer converts a transcript to events, line by line.
type normalizer interface {
	Line(at time.Time, line []byte)
	End()
}

func normalizerOf(runtime, session string, emit func(event.Event)) (normalizer, error) {
	switch runtime {
	case "codex":
		return codex.NewNormalizer(session, emit), nil
	case "claude":
		return claude.NewNormalizer(session, emit), nil
	}
	return nil, fmt.Errorf("unknown runtime %q; want codex or claude", runtime)
}

func normalizeCmd() *cobra.Command {
	var session string
	cmd := &cobra.Command{
		Use:   "normalize RUNTIME [FILE]",
		Short: "Convert a runtime's output to events",
		Long: `Normalize reads the output of a runtime (codex app-server, or claude with
--output-format stream-json) from a file or from stdin, and writes events as they
occur, one JSON object per line. Its memory is bounded by the longest line.

A line that it does not understand becomes a notice.`,
		Example: `  turnspec normalize claude transcript.jsonl
  claude -p --output-format stream-json --verbose 'Say hello' | turnspec normalize claude
  turnspec normalize codex wire.jsonl | turnspec chat`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return complete(runtimeNames)(cmd, args, word)
			}
			return nil, cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := normalizerOf(args[0], session, nil); err != nil {
				return err
			}
			in, name, err := input(cmd, args[1:])
			if err != nil {
				return err
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

// normalize writes the events of each line before it reads the next.
func normalize(runtime, session string, in io.Reader, name string, out io.Writer) error {
	buffer := bufio.NewWriterSize(out, 64<<10)
	encoder := event.NewEncoder(buffer)
	var failed error
	n, err := normalizerOf(runtime, session, func(e event.Event) {
		if failed == nil {
			failed = encoder.Encode(e)
		}
	})
	if err != nil {
		return err
	}
	lines := linereader.NewReader(in, 0)
	for number := 1; failed == nil; number++ {
		line, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			n.End()
			return errors.Join(failed, buffer.Flush())
		case errors.Is(err, linereader.ErrTooLong):
			// The rest is not JSON: the normalizer emits a notice.
		case err != nil:
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		n.Line(time.Now(), line)
		if failed == nil {
			failed = buffer.Flush()
		}
	}
	return failed
}
