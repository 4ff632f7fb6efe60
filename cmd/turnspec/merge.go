package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/report"
)

func mergeCmd() *cobra.Command {
	var out output
	var known knownFlags
	cmd := &cobra.Command{
		Use:   "merge REPORT.json…",
		Short: "Join the reports of a run's shards, and judge the whole",
		Long: `Merge joins the JSON reports of all shards of a run, and prints and writes what
the whole run would have said, with its exit code. What only the whole can tell
is judged here: checks that gave no verdict on any case, and known failures that
fail no more. The shards must be all there, each once, of one version and of one
corpus.

The report of a whole run may stand alone: it is shown in other forms.

Exit codes: 0 every check passed, 1 a check failed, 2 they do not fit together.`,
		Example: `  turnspec run --shard 1/2 --report json=1.json   # on one machine
  turnspec run --shard 2/2 --report json=2.json   # on another
  turnspec merge 1.json 2.json --report junit=junit.xml --report html=report.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := out.targets(); err != nil {
				return err
			}
			if _, err := known.read(); err != nil {
				return err
			}
			var parts []report.Part
			for _, file := range args {
				b, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				d, err := report.Read(file, b)
				if err != nil {
					return err
				}
				parts = append(parts, report.Part{File: file, Document: d})
			}
			whole, err := report.Merge(parts)
			if err != nil {
				return err
			}
			if err := known.write(whole); err != nil {
				return err
			}
			return out.show(cmd, whole)
		},
	}
	out.flags(cmd)
	known.writeFlag(cmd)
	return cmd
}
