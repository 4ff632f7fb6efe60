package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/report"
)

func mergeCmd() *cobra.Command {
	var out output
	var known knownFlags
	cmd := &cobra.Command{
		Use:   "merge REPORT.json…",
		Short: "Join the reports of the shards of a run",
		Long: `Merge joins the JSON reports of all shards of a run, and prints and writes what the
whole run would have printed and written, with its exit code. It also judges what a
shard cannot: checks without a verdict on any case, and known failures that do not
fail any more. Each shard must be given once, all with the same version and corpus.

Given the report of a whole run, merge writes it in other formats.

Exit codes: 0 every check passed, 1 a check failed, 2 the reports do not fit
together.`,
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
			parts, err := readReports(args)
			if err != nil {
				return err
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

// readReports reads JSON reports.
func readReports(files []string) ([]report.Part, error) {
	var parts []report.Part
	var errs []error
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err == nil {
			var d *report.Document
			if d, err = report.Read(file, b); err == nil {
				parts = append(parts, report.Part{File: file, Document: d})
				continue
			}
		}
		errs = append(errs, err)
	}
	return parts, errors.Join(errs...)
}
