package main

import (
	"fmt"

	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/fixtures"
)

// The demo shows the most common defect: an adapter streams a text and emits it
// again when the runtime repeats it in its result.
const (
	demoDefect  = "shows-the-result-too"
	demoRuntime = "claude"
	demoCase    = demoRuntime + "/*/tool/text-tool-text-three-rounds"
)

// demoChecks are the checks that the demo shows, by name so that README need not change when
// the topic gets another one.
var demoChecks = []string{
	"text.once", "text.order", "text.retracted", "text.block-boundary", "text.result",
	"text.unicode", "text.not-thinking", "text.message-id", "text.block-end", "text.paragraph-break",
}

func demoCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Run a broken adapter and the reference, and see the broken one fail",
		Long: `Demo replays one recording of a real runtime to two adapters: the reference, and
the reference with one defect. Its exit code is 0.`,
		Example: `  turnspec demo`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := interruptible(cmd)
			defer stop()
			refs, err := references(demoRuntime)
			if err != nil {
				return err
			}
			defect, err := defects.Named(demoDefect)
			if err != nil {
				return err
			}
			judges, err := backend.Named(demoChecks...)
			if err != nil {
				return err
			}
			ids, err := matching(fixtures.Embedded(), demoCase)
			if err != nil {
				return err
			}
			rep, err := runner.Run(ctx, conformance.Config{
				Corpus: fixtures.Embedded(), Checks: judges, Cases: fixtures.Newest(ids), Places: 1,
				Subjects: []conformance.Subject{refs[0], defect.Subject(refs[0])},
				Tiers:    []conformance.Tier{conformance.TierWitness, conformance.TierGolden},
			})
			if err != nil {
				return err
			}
			d := report.New(rep, report.About{})
			out := cmd.OutOrStdout()
			st := styleOf(out)
			fmt.Fprintf(out, "A recording of the real %s is replayed to two adapters: the reference, and one that\n%s. The checks compare both with what the model said.\n",
				demoRuntime, defect.Sentence)
			if err := report.Failures(out, d, st); err != nil {
				return err
			}
			fmt.Fprintln(out)
			if err := report.Table(out, d, st); err != nil {
				return err
			}
			fmt.Fprintf(out, "\n%s\n", report.Summary(d, st))
			fmt.Fprintln(out, "\nThis failure is the defect. Next: `turnspec run` runs every check on the reference adapters;\n`turnspec explain text.once` explains this check.")
			return nil
		},
	}
}
