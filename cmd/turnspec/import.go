package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/capture"
)

func importCmd() *cobra.Command {
	var out, runtime, name string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Convert a recording from elsewhere to a case",
		Long: `Import reads lines of JSON (- is stdin), detects their format, and converts them to
a case: redacted and linted as any recording, without a witness, with a note on its
origin. If something that must not be published remains, or a line is no JSON
object, import refuses the input and writes nothing. The version that the lines name
wins over --runtime. An imported case is for a bug report or a regression test, not for
the corpus: the words of its model are not known.

  plain        each line is a line of the runtime's stdout
  tap          {"t":"0.012s","p":1,"out":{…}}, of ` + "`turnspec tap`" + ` and the flag --tap
  timed        {"t_ms":12,"dir":"in|out|err","line":…}
  tape         {"dir":"read","frame":{…}} and {"dir":"write","data":"…"}, of
               claude-agent-cassette
  transcript   {"type":"expect_outbound|emit_inbound","frame":{…}}, of T3 Code's testkit

Exit codes: 0 converted, 2 the input cannot be converted.`,
		Example: `  turnspec import session.jsonl --out session.txtar
  turnspec run --case session.txtar
  turnspec import --runtime codex@0.120.0 - <wire.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			in, from := cmd.InOrStdin(), "stdin"
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer func() { _ = f.Close() }()
				in, from = f, filepath.Base(args[0])
			}
			rec, err := capture.Read(in)
			if line, ok := errors.AsType[*capture.LineError](err); ok {
				return fmt.Errorf("%s:%d: %w", from, line.Line, line.Err)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", from, err)
			}
			h := capture.Head{Name: name, Runtime: rec.Runtime, Version: rec.Version,
				Recorded: fmt.Sprintf("%s imported: from %s (%s)", time.Now().Format(time.DateOnly), from, rec.Format)}
			if err := whose(&h, runtime, rec.Wire); err != nil {
				return err
			}
			b, err := capture.Make(h, capture.Elsewhere(rec.Wire), rec.Wire)
			if err != nil {
				return err
			}
			return put(cmd.OutOrStdout(), out, b)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "file to write (default: stdout)")
	f.StringVar(&runtime, "runtime", "", "runtime@version, if the lines do not contain it")
	f.StringVar(&name, "name", "imported/recording", "name of the case")
	completeFlag(cmd, "runtime", runtimeNames)
	return cmd
}

// whose sets the runtime and version of lines: those that the lines contain, or else
// those of the flag.
func whose(h *capture.Head, flag string, wire []fixtures.WireLine) error {
	runtime, version := capture.Guess(wire)
	name, wanted, _ := strings.Cut(flag, "@")
	if flag != "" {
		if runtime != "" && name != runtime {
			return fmt.Errorf("--runtime %s: the lines are of %s", flag, strings.TrimSpace(runtime+" "+version))
		}
		h.Runtime = name
	}
	if h.Runtime == "" {
		h.Runtime = runtime
	}
	h.Version = cmp.Or(version, wanted, h.Version)
	if h.Runtime == "" || h.Version == "" {
		return fmt.Errorf("the lines do not contain runtime and version: add --runtime RUNTIME@VERSION, where RUNTIME is one of %s", strings.Join(runtimeNames(), ", "))
	}
	_, err := wires.Get(h.Runtime)
	return err
}

// put writes a case to a new file, or to stdout.
func put(stdout io.Writer, file string, b []byte) error {
	if file == "" {
		_, err := stdout.Write(b)
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}
