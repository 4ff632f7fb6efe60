package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
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
		Short: "Tell what of a runtime's wire the corpus has shown, and what never",
		Long: `Coverage counts, per runtime and version, the messages, item types, fields and
words of closed lists that the corpus has shown, of all that the runtime itself
declares (turnspec schema).

Much of what is declared cannot be shown offline: accounts, realtime, plugins of
a vendor's shop. The figure is for comparing, not for reaching 100 %.`,
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
	f.BoolVar(&asJSON, "json", false, "print JSON, with all names that were never shown")
	f.BoolVar(&markdown, "markdown", false, "print a Markdown table")
	f.BoolVar(&undeclared, "undeclared", false, "list what the wire has shown and the runtime does not declare")
	f.BoolVar(&ignored, "ignored-but-seen", false, "list what the reference adapters ignore though the wire has shown it, and why")
	f.StringVar(&never, "never", "", "list what was never shown of messages, requests, items, fields or values")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "undeclared", "ignored-but-seen", "never")
	completeFlag(cmd, "never", coverage.PartNames)
	return cmd
}

// coverages reports the versions named, or all.
func coverages(c fixtures.Corpus, args []string) ([]*coverage.Report, error) {
	if len(args) == 0 {
		args = runtimes.Names()
	}
	var out []*coverage.Report
	for _, arg := range args {
		name, version, _ := strings.Cut(arg, "@")
		versions := coverage.Versions(c, name)
		if version != "" {
			versions = []string{version}
		}
		if len(versions) == 0 {
			return nil, fmt.Errorf("the corpus holds no schema of %q; `turnspec schema %s --write` stores it", arg, arg)
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
		fmt.Fprintf(w, "%s %s: %d of %d %s were never shown\n", rep.Runtime, rep.Version, len(p.Never), p.All, name)
		for _, n := range p.Never {
			fmt.Fprintln(w, "  "+n)
		}
	}
	return nil
}

// mappings are what the reference adapters make of each message.
var mappings = map[string]func() []adapters.Mapped{"codex": codex.Mapping, "claude": claude.Mapping}

// printIgnored lists what deserves another look: a reason that was good when a
// message was rare may not be when it is common.
func printIgnored(w io.Writer, c fixtures.Corpus, reports []*coverage.Report) error {
	for _, rep := range reports {
		cases, err := c.CasesOf(rep.Runtime, rep.Version)
		if err != nil {
			return err
		}
		kinds := census.Take(cases).Kinds
		rows := [][]string{}
		for _, m := range mappings[rep.Runtime]() {
			if n := census.Shown(kinds, m.Name); n > 0 && m.Ignored != "" {
				rows = append(rows, []string{"  " + m.Kind, m.Name, fmt.Sprintf("%d times", n), m.Ignored})
			}
		}
		fmt.Fprintf(w, "%s %s: %d kinds of message are ignored and were seen\n", rep.Runtime, rep.Version, len(rows))
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
