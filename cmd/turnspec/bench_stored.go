package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance/lab/bench/report"
	"github.com/turnspec/turnspec/conformance/report/table"
)

func benchShowCmd() *cobra.Command {
	var verbose, markdown, asJSON bool
	var html string
	cmd := &cobra.Command{
		Use:   "show FILE...",
		Short: "Print stored reports of bench --json",
		Long: `Show prints stored reports as bench prints them, or as Markdown. --json prints the tables
of the Markdown as JSON; ` + "`make bench-page`" + ` stores these, and ` + "`make docs`" + ` makes a page of them.

Exit codes: 0 printed, whatever the gates say; 2 a file is not a report.`,
		Example: `  turnspec bench show new.json
  turnspec bench show --markdown new.json sessions.json > results.md
  turnspec bench show --html new.html new.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if html != "" && len(args) > 1 {
				return fmt.Errorf("--html writes a page for one report; %d are named", len(args))
			}
			out := cmd.OutOrStdout()
			var sections []table.Section
			for i, file := range args {
				r, err := report.Read(file)
				if err != nil {
					return err
				}
				title := "## " + strings.TrimSuffix(filepath.Base(file), ".json")
				if asJSON {
					sections = append(append(sections, table.Section{Title: title}), r.Sections()...)
					continue
				}
				show := func(w io.Writer) error { return report.Text(w, r, verbose) }
				if markdown {
					show = func(w io.Writer) error { return report.Markdown(w, r) }
				}
				if html != "" {
					return writeFile(html, func(w io.Writer) error { return report.HTML(w, r) })
				}
				if i > 0 {
					_, _ = fmt.Fprintln(out) // the next line fails too
				}
				if len(args) > 1 {
					_, _ = fmt.Fprintf(out, "%s\n\n", title) // likewise
				}
				if err := show(out); err != nil {
					return err
				}
			}
			if asJSON {
				return table.WriteJSON(out, sections)
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&verbose, "verbose", "v", false, "print every figure")
	fl.BoolVar(&markdown, "markdown", false, "print Markdown")
	fl.BoolVar(&asJSON, "json", false, "print the tables of the Markdown as JSON")
	fl.StringVar(&html, "html", "", "write an HTML page with plots to this file")
	cmd.MarkFlagsMutuallyExclusive("markdown", "html", "verbose", "json")
	return cmd
}

func benchCompareCmd() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two reports of bench --json",
		Long: `Compare prints which figures of the subjects differ significantly
(Mann-Whitney U test, p < 0.05), as benchstat does. If both reports have controls
it compares the ratios to them, which are comparable between machines. Each side
needs at least four repeats.

Exit codes: 0 nothing is worse, 1 a figure is worse, 2 the reports cannot be
compared.`,
		Example: `  turnspec bench compare old.json new.json`,
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			old, err := report.Read(args[0])
			if err != nil {
				return err
			}
			now, err := report.Read(args[1])
			if err != nil {
				return err
			}
			all, err := report.Compare(old.Document, now.Document)
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), all)
			} else {
				err = report.Changes(cmd.OutOrStdout(), all)
			}
			if err == nil && slices.ContainsFunc(all, func(c report.Change) bool { return c.Worse }) {
				return errFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
