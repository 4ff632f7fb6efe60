package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/cmd/turnspec/internal/propose"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/plug/sse"
)

func mapCmd() *cobra.Command {
	var from, to string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "map --from SAMPLE",
		Short: "Propose a mapping for the events of your adapter",
		Long: `Map reads a sample of the events that your adapter writes, one JSON object a line, of
one or more turns, and proposes the file of a mapping (go doc
./conformance/plug/mapping): with --dialect FILE, run, smoke and debug read the events
by its rules, so that the adapter keeps its own.

It recognizes the vocabularies of the dialects (turnspec smoke --help), ACP's
session/update, OpenAI's chunks, Anthropic's stream and LangChain's events; of others it
goes by the names of types and members and by their values. The note of a rule says
why it was chosen: read them all. What could not be placed is listed, with an example and
the beginning of a rule. A sample with a tool, a permission request and an error gives
more rules than one with text only.

Exit codes: 0 a mapping was written, 2 wrong use, or a sample without messages.`,
		Example: `  turnspec map --from sample.jsonl --to my.json
  turnspec smoke --runtime claude --dialect my.json -- python3 my_adapter.py
  turnspec map --from sample.jsonl --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" {
				return errors.New("--from is missing: give a file of your adapter's events, one JSON object a line, or - for stdin")
			}
			sample, err := readSample(cmd.InOrStdin(), from)
			if err != nil {
				return err
			}
			p, err := propose.From(mappingName(cmp.Or(to, from)), sample)
			if err != nil {
				return fmt.Errorf("--from %s: %w", from, err)
			}
			file, err := p.Write()
			if err != nil {
				return err
			}
			report := cmd.ErrOrStderr()
			switch {
			case to != "":
				if err := writeMapping(to, file); err != nil {
					return err
				}
				report = cmd.OutOrStdout()
			case !asJSON:
				_, err = cmd.OutOrStdout().Write(file)
			}
			if err != nil {
				return err
			}
			if asJSON {
				b, err := json.Marshal(p, json.Deterministic(true), jsontext.WithIndent("  "))
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", b)
				return err
			}
			printProposal(report, p, to)
			return nil
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "the sample, or - for stdin")
	cmd.Flags().StringVar(&to, "to", "", "the file to write (default: stdout)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the proposal, and what could not be placed, as JSON")
	return cmd
}

func readSample(stdin io.Reader, from string) ([]byte, error) {
	if from == "-" {
		return io.ReadAll(stdin)
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	return b, nil
}

// writeMapping writes a new file.
func writeMapping(name string, b []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("--to: %s exists already, so nothing was written: it may have rules of yours", name)
	}
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// mappingName returns the name of a mapping in a file.
func mappingName(file string) string {
	if name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)); name != "-" && name != "" {
		return name
	}
	return "my-events"
}

// printProposal prints what the mapping does not read, and what to do next.
func printProposal(out io.Writer, p *propose.Proposal, to string) {
	fmt.Fprintf(out, "%d messages, %s\n", p.Messages, counted(len(p.Mapping.Rules), "rule"))
	if p.Mapping.Extends != "" {
		fmt.Fprintf(out, "the messages are those of %s, whose rules follow\n", p.Mapping.Extends)
	}
	for _, line := range p.Skipped {
		fmt.Fprintln(out, line)
	}
	if len(p.Unplaced) > 0 {
		fmt.Fprintf(out, "\nno rule reads these:\n%s", unplaced(p.Unplaced))
	}
	if len(p.Missing) > 0 {
		fmt.Fprintf(out, "\nno rule emits %s, which a turn of text needs: write one, or give a sample of a whole turn\n", joinTypes(p.Missing))
	}
	fmt.Fprintf(out, "\nNext: read the notes, then\n  turnspec smoke --runtime RUNTIME --dialect %s -- CMD\n", quoted(cmp.Or(to, "my.json")))
	fmt.Fprintf(out, "CMD takes commands and writes replies beside its events (conformance/plug/jsonl/PROTOCOL.md).\n"+
		"For one that does not, add to the file \"stdin\": \"{message}\", the line that it reads, or\n"+
		"\"args\": [\"{message}\"], the arguments with which it is started for each message.\n")
}

// counted returns a number with a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// unplaced lists kinds of messages, each with an example and how to write a rule for it.
func unplaced(all []propose.Unplaced) string {
	var b strings.Builder
	for _, u := range all {
		fmt.Fprintf(&b, "  %s (%s), such as %s\n    write %s\n", u.Kind, counted(u.Count, "message"), u.Example, u.Write)
	}
	return b.String()
}

func joinTypes(types []event.Type) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = string(t)
	}
	return strings.Join(words, " and ")
}

// dialectOf returns the mapping of a subject, or nil.
func dialectOf(s conformance.Subject) *mapping.Mapping {
	switch s := s.(type) {
	case *jsonl.Subject:
		return s.Dialect
	case *sse.Subject:
		return s.Dialect
	}
	return nil
}

// unreadOf describes what the mapping of a subject did not read in a run of one turn of text, and which
// events did not come. It is "" if the subject has no mapping.
func unreadOf(s conformance.Subject, r *conformance.Run) string {
	m := dialectOf(s)
	if m == nil {
		return ""
	}
	var lines [][]byte
	needed := []event.Type{event.TypeDelta, event.TypeDone}
	for _, e := range r.Events {
		if n, is := e.Data.(event.Notice); is && n.Code == event.NoticeUnknownMessage {
			lines = append(lines, n.Raw)
		}
		needed = slices.DeleteFunc(needed, func(t event.Type) bool { return t == e.Type() })
	}
	var out strings.Builder
	if unread := propose.Unread(lines); len(unread) > 0 {
		fmt.Fprintf(&out, "\nno rule of the mapping %s reads these:\n%s", m.Name, strings.TrimRight(unplaced(unread), "\n"))
	}
	if len(needed) > 0 {
		fmt.Fprintf(&out, "\nno message gave %s, which a turn of text needs", joinTypes(needed))
	}
	return out.String()
}
