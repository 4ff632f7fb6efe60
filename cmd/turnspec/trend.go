package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/report"
)

func trendCmd() *cobra.Command {
	var html string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "trend REPORT.json…",
		Short: "Show how verdicts changed from report to report",
		Long: `Trend reads stored JSON reports of the same adapter and prints a line for each, in the
order in which they ran: how many checks passed, how many failed, and which fail since
that report or do not any more; --json prints the same for programs. --html writes a page with a picture of it.

Reports of different adapters make separate tables. Keep the report of each run in
a folder, or as an artifact of your CI; reports of shards are merged first (turnspec merge).`,
		Example: `  turnspec run --runtime claude --subject 'python3 my_adapter.py' --report json=reports/$(date +%F).json
  turnspec trend reports/*.json
  turnspec trend reports/*.json --html trend.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			parts, err := readReports(args)
			if err != nil {
				return err
			}
			for _, p := range parts {
				if p.Shard != nil {
					return fmt.Errorf("%s is the report of shard %v: merge the shards of each run first", p.File, p.Shard)
				}
			}
			trends := report.NewTrends(parts)
			if html != "" {
				if err := writeFile(html, func(w io.Writer) error { return report.TrendHTML(w, trends) }); err != nil {
					return err
				}
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return report.TrendJSON(out, trends)
			}
			return report.TrendTable(out, trends, styleOf(out))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&html, "html", "", "write an HTML page with a picture to this file")
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
