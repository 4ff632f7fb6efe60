package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/census"
	"github.com/turnspec/turnspec/recorder/coverage"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

func coverageCmd() *cobra.Command {
	var dir, never string
	var asJSON, markdown, undeclared, ignored bool
	cmd := &cobra.Command{
		Use:   "coverage [RUNTIME[@VERSION]…]",
		Short: "Print how much of a runtime's declared wire the corpus contains",
		Long: `Coverage counts, per runtime and version, the messages, item types, fields and
enumeration values that the corpus contains, and how many the runtime declares
(turnspec schema).

Much of what a runtime declares cannot happen offline: accounts, realtime audio,
plugins of a vendor's shop. The figures are for comparing; 100 % is not a goal.`,
		Example: `  turnspec coverage
  turnspec coverage codex@0.169.0 --never messages
  turnspec coverage claude --undeclared
  turnspec coverage --ignored-but-seen
  turnspec coverage --json`,
		ValidArgsFunction: complete(runtimeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCorpus(dir)
			if err != nil {
				return err
			}
			reports, err := coverages(c, args)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				return printJSON(out, reports)
			case never != "":
				return printNever(out, reports, never)
			case undeclared:
				return printUndeclared(out, reports)
			case ignored:
				return printIgnored(out, c, reports)
			case markdown:
				_, err := io.WriteString(out, coverage.Markdown(reports))
				return err
			}
			return printTable(out, coverage.Table(reports))
		},
	}
	corpusFlag(cmd, &dir)
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print JSON, with all names that the corpus lacks")
	f.BoolVar(&markdown, "markdown", false, "print a Markdown table")
	f.BoolVar(&undeclared, "undeclared", false, "list names that are on the wire but not declared")
	f.BoolVar(&ignored, "ignored-but-seen", false, "list messages that the reference adapters ignore although they occur, with the reasons")
	f.StringVar(&never, "never", "", "list the names of this kind that the corpus lacks: messages, requests, items, fields or values")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "undeclared", "ignored-but-seen", "never")
	completeFlag(cmd, "never", coverage.PartNames)
	return cmd
}

// coverages returns the reports of the versions named, or of all.
func coverages(c fixtures.Corpus, args []string) ([]*coverage.Report, error) {
	if len(args) == 0 { // not every vendor publishes a schema
		args = slices.DeleteFunc(runtimes.Names(), func(name string) bool { return len(coverage.Versions(c, name)) == 0 })
	}
	var out []*coverage.Report
	for _, arg := range args {
		name, version, _ := strings.Cut(arg, "@")
		versions := coverage.Versions(c, name)
		if version != "" {
			versions = []string{version}
		}
		if len(versions) == 0 {
			return nil, fmt.Errorf("the corpus has no schema of %q; `turnspec schema %s --write` stores it", arg, arg)
		}
		for _, v := range versions {
			rep, err := coverage.Of(c, name, v)
			if err != nil {
				return nil, err
			}
			out = append(out, rep)
		}
	}
	return out, nil
}

func printNever(w io.Writer, reports []*coverage.Report, name string) error {
	for _, rep := range reports {
		p, err := rep.Part(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s %s: %d of %d %s are not in the corpus\n", rep.Runtime, rep.Version, len(p.Never), p.All, name)
		for _, n := range p.Never {
			fmt.Fprintln(w, "  "+n)
		}
	}
	return nil
}

// printIgnored lists ignored messages that occur in the corpus: a reason to ignore
// a rare message may not hold once it is common.
func printIgnored(w io.Writer, c fixtures.Corpus, reports []*coverage.Report) error {
	for _, rep := range reports {
		cases, err := c.CasesOf(rep.Runtime, rep.Version)
		if err != nil {
			return err
		}
		kinds := census.Take(cases).Kinds
		rows := [][]string{}
		a := reference.Of(rep.Runtime)
		if a == nil {
			continue
		}
		for _, m := range a.Mapping() {
			if n := census.Shown(kinds, m.Name); n > 0 && m.Ignored != "" {
				rows = append(rows, []string{"  " + m.Kind, m.Name, fmt.Sprintf("%d times", n), m.Ignored})
			}
		}
		fmt.Fprintf(w, "%s %s: %d kinds of message occur and are ignored\n", rep.Runtime, rep.Version, len(rows))
		if err := printTable(w, rows); err != nil {
			return err
		}
	}
	return nil
}

func printUndeclared(w io.Writer, reports []*coverage.Report) error {
	for _, rep := range reports {
		fmt.Fprintf(w, "%s %s: %d names are on the wire and not declared\n", rep.Runtime, rep.Version, len(rep.Undeclared))
		for _, n := range slices.Sorted(maps.Keys(rep.Undeclared)) {
			fmt.Fprintf(w, "  %s  %d times\n", n, rep.Undeclared[n])
		}
	}
	return nil
}
