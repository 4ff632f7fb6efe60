package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fixtures"
)

// wireWidth bounds the printed part of a line.
const wireWidth = 110

func showCmd() *cobra.Command {
	var dir, htmlFile string
	var wire, asJSON bool
	cmd := &cobra.Command{
		Use:   "show CASE|FILE",
		Short: "Print a case: its intent, steps, wire and witness",
		Long: `Show prints a recording, stored or in a file. Wire lines are shortened; --wire
prints them in full.

With --html it writes the chat that the reference adapter makes of the case, as one
HTML file with a slider that replays the session in the recorded time.`,
		Example: `  turnspec show codex/newest/text/plain
  turnspec show 'claude/*/permission/allow' --wire
  turnspec show 'codex/*/text/plain' --json
  turnspec show claude/newest/permission/allow --html allow.html
  turnspec show imported.txtar`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: complete(caseIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			corpus, err := openCorpus(dir)
			if err != nil {
				return err
			}
			glob := args[0]
			if isCaseFile(glob) {
				f, err := openCaseFile(corpus, glob)
				if err != nil {
					return err
				}
				defer f.remove()
				corpus, glob = f.Corpus, f.id
			}
			c, err := oneCase(corpus, glob)
			if err != nil {
				return err
			}
			s, err := corpus.LoadScenario(c.Scenario)
			if err != nil {
				return err
			}
			if isCaseFile(args[0]) {
				c.File = args[0]
				if s.File = strings.TrimPrefix(s.File, corpus.Root+"/"); c.NoWitness {
					s.File = "read from the lines of the client"
				}
			}
			if htmlFile != "" {
				events, err := shownEvents(corpus, c)
				if err != nil {
					return err
				}
				return writePage(htmlFile, c.ID, events)
			}
			if asJSON {
				return showJSON(cmd.OutOrStdout(), c, s)
			}
			return show(cmd.OutOrStdout(), c, s, wire)
		},
	}
	corpusFlag(cmd, &dir)
	cmd.Flags().BoolVar(&wire, "wire", false, "print wire lines in full")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&htmlFile, "html", "", "write a page to this file")
	cmd.MarkFlagsMutuallyExclusive("wire", "json", "html")
	return cmd
}

func show(w io.Writer, c *fixtures.Case, s *fixtures.Scenario, whole bool) error {
	fmt.Fprintf(w, "%s\n%s\nrecorded %s on %s %s, file %s\n\n", c.ID, s.Intent, c.Recorded, c.Runtime, c.Version, c.File)
	fmt.Fprintf(w, "steps (%s)\n", s.File)
	for _, a := range s.Client {
		fmt.Fprintf(w, "%6d  %s\n", a.Line, a.Source)
	}
	fmt.Fprintf(w, "\nwire, %d lines\n", len(c.Wire))
	for _, l := range c.Wire {
		text := lineText(l)
		if !whole {
			text = clip(text, wireWidth)
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%6d  %9s  %-6s %s", l.Line, l.T.Round(time.Millisecond), l.Dir, text), " "))
	}
	fmt.Fprintf(w, "\nwitness, %d request(s) to the model\n", len(c.Witness))
	for _, r := range c.Witness {
		agent := ""
		if r.Agent != "" {
			agent = " of " + r.Agent
		}
		fmt.Fprintf(w, "  %d%s  brings %s, ended %s\n", r.Req, agent, strings.Join(r.New, " "), r.Ended)
		for _, x := range r.Output {
			fmt.Fprintf(w, "       %s\n", clip(saidText(x), wireWidth))
		}
	}
	return nil
}

func lineText(l fixtures.WireLine) string {
	switch l.Dir {
	case fixtures.In, fixtures.Out, fixtures.Err:
		return string(l.Bytes)
	case fixtures.Spawn:
		return strings.Join(l.Argv, " ")
	case fixtures.Signal:
		return l.Signal
	case fixtures.Release:
		return l.Hold
	case fixtures.Exit:
		if l.Signal != "" {
			return l.Signal
		}
		return fmt.Sprint(l.Code)
	}
	return ""
}

func saidText(x fixtures.OutputPart) string {
	switch {
	case x.Tool != "":
		return fmt.Sprintf("tool %s (%s) %s %s", x.Tool, x.Name, x.ID, x.Input)
	case x.Think != "":
		return fmt.Sprintf("think %q", x.Think)
	}
	return fmt.Sprintf("text %q", x.Text)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip shortens a text to at most n bytes, at a character boundary.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// shownEvents returns the events that the reference adapter emits for a case: those of its
// golden, or else those of what the runtime wrote, in which answers of the client are
// missing.
func shownEvents(corpus fixtures.Corpus, c *fixtures.Case) ([]event.Event, error) {
	lines, err := corpus.GoldenEvents(c.ID)
	if err == nil {
		return readEvents(bytes.NewReader(bytes.Join(lines, nil)), "the golden of "+c.ID)
	}
	a := reference.Of(c.Runtime)
	if a == nil {
		return nil, fmt.Errorf("%s: runtime %s has no reference adapter, which makes the chat", c.ID, c.Runtime)
	}
	var events []event.Event
	n := a.Transcribe("s1", func(e event.Event) { events = append(events, e) })
	began := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, l := range c.Wire {
		if l.Dir == fixtures.Out {
			n.Line(began.Add(l.T), l.Bytes)
		}
	}
	n.End()
	return events, nil
}

type shown struct {
	ID       string             `json:"id"`
	File     string             `json:"file"`
	Scenario string             `json:"scenario"`
	Runtime  string             `json:"runtime"`
	Version  string             `json:"version"`
	Recorded string             `json:"recorded"`
	Intent   string             `json:"intent"`
	Steps    []string           `json:"steps"`
	Wire     []jsontext.Value   `json:"wire"`
	Witness  []fixtures.Request `json:"witness"`
}

func showJSON(w io.Writer, c *fixtures.Case, s *fixtures.Scenario) error {
	v := shown{ID: c.ID, File: c.File, Scenario: c.Scenario, Runtime: c.Runtime, Version: c.Version, Recorded: c.Recorded,
		Intent: oneLine(s.Intent), Witness: c.Witness}
	for _, a := range s.Client {
		v.Steps = append(v.Steps, a.Source)
	}
	wire, err := fixtures.FormatWire(c.Wire)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(wire) {
		v.Wire = append(v.Wire, bytes.TrimSpace(line))
	}
	return printJSON(w, v)
}
