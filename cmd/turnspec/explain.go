package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fakes/fault"
)

func explainCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain CHECK",
		Short: "Explain a check: what it demands, why, and what proves it",
		Example: `  turnspec explain text.once
  turnspec explain turn.crash-ends --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: complete(checkIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, c := range everyCheck() {
				switch {
				case c.ID != args[0]:
				case asJSON:
					return printJSON(cmd.OutOrStdout(), rowOf(c))
				default:
					explain(cmd.OutOrStdout(), c)
					return nil
				}
			}
			var judges []string // of a former id, or of a rule that others cover
			for _, c := range backend.Checks() {
				if c.HasID(args[0]) {
					judges = append(judges, c.ID)
				}
			}
			if len(judges) > 0 && !asJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "%s\n  is judged by %s.\n", args[0], strings.Join(judges, ", "))
				return nil
			}
			return fmt.Errorf("no check %q%s; `turnspec list checks` prints all", args[0], near(args[0], checkIDs()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func rowOf(c *conformance.Check) checkRow {
	row := checkRow{ID: c.ID, Severity: c.Severity.String(), Sentence: c.Sentence, Mend: c.Mend, Source: c.Source, Tiers: c.Tiers, Harm: c.Faults, Judges: c.Judges, Level: checks.LevelOf(c)}
	for _, d := range defects.CaughtBy(c.ID) {
		row.Proven = append(row.Proven, d.Name)
	}
	return row
}

func explain(w io.Writer, c *conformance.Check) {
	fmt.Fprintf(w, "%s\n  %s\n\n", c.ID, c.Sentence)
	severity := "fails the suite"
	if c.Severity != conformance.Must {
		severity = "is reported and does not fail the suite"
	}
	fmt.Fprintf(w, "severity   %s: a failure %s\n", c.Severity, severity)
	if checks.LevelOf(c) == checks.LevelCore {
		fmt.Fprintf(w, "level      %s: every chat adapter must pass it\n", checks.LevelCore)
	}
	fmt.Fprintf(w, "source     %s\n", c.Source)
	if c.Mend != "" {
		fmt.Fprintf(w, "mend it    %s\n", c.Mend)
	}
	var tiers []string
	for _, t := range c.Tiers {
		tiers = append(tiers, string(t))
	}
	fmt.Fprintf(w, "tiers      %s\n", strings.Join(tiers, ", "))
	faults := []string{}
	for _, name := range c.Faults {
		if op, err := fault.Named(name); err == nil {
			name += ": " + op.Doc
		}
		faults = append(faults, name)
	}
	if len(faults) == 0 {
		faults = []string{"none: it judges the case as recorded"}
	}
	printLabelled(w, "faults", faults)
	printLabelled(w, "limits", limits(c))
	printLabelled(w, "needs", needs(c))
	printLabelled(w, "judges", c.Judges)
	var proven []string
	for _, d := range defects.CaughtBy(c.ID) {
		proven = append(proven, d.Name+": an adapter that "+d.Sentence)
	}
	printLabelled(w, "proven by", proven)
	flags := "--check " + c.ID
	if slices.Equal(c.Tiers, []conformance.Tier{conformance.TierLive}) {
		flags = "--tier live " + flags
	}
	fmt.Fprintf(w, "run it     turnspec run %s\n", flags)
}

// needs returns what a subject must support for a verdict of the check.
func needs(c *conformance.Check) (out []string) {
	if len(c.Needs) > 0 {
		out = append(out, strings.Join(c.Needs, ", ")+": not expressible for a subject that lacks one of them")
	}
	if c.NeedsFor != nil {
		out = append(out, "further events and members in some cases; the verdict names the one that is missing")
	}
	if c.NeedsLines {
		out = append(out, "virtual time, which only Go adapters have")
	}
	return append(out, "the abilities that the steps of a case need, such as stop")
}

// limits returns how long a subject may take under the faults of the check.
func limits(c *conformance.Check) (out []string) {
	ends, hangs := false, false
	for _, name := range c.Faults {
		op, err := fault.Named(name)
		if err != nil || op.Kind != fault.Terminal {
			continue
		}
		if runner.Waits(name) {
			hangs = true
		} else {
			ends = true
		}
	}
	if ends {
		out = append(out, fmt.Sprintf("%v to report what the fault ended: the session, a turn, a call", perform.EndLimit))
	}
	if hangs {
		out = append(out, fmt.Sprintf("%v to give up on a runtime that hangs; for a program those that open sets", perform.StallLimit))
	}
	return out
}

func printLabelled(w io.Writer, label string, lines []string) {
	for i, l := range lines {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(w, "%-9s  %s\n", label, l)
	}
}
