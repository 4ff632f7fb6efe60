package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/census"
	"github.com/turnspec/turnspec/recorder/coverage"
)

func coverageCmd() *cobra.Command {
	var dir, never, state string
	var asJSON, markdown, undeclared, ignored, values bool
	cmd := &cobra.Command{
		Use:   "coverage [RUNTIME[@VERSION]…]",
		Short: "Print what each runtime performs, and how much of its wire the corpus contains",
		Long: `Coverage counts, per runtime and version, the scenarios that it performs (the corpus
has a case), those that it cannot perform (for a reason that --scenarios cannot
prints), and those that were not recorded.

If the runtime declares its own wire (turnspec schema), coverage also counts the
messages, item types, fields and enumeration values that the corpus contains, and
how many are declared.

With --values it counts how many different values each member has instead: of the events
in the goldens, for each runtime and for all together, and of the lines of the wire. It
lists the members that never vary, which no check can judge, with the reason if there is
one; --json has all members. The newest version of each runtime counts.

Much of what a runtime declares cannot happen offline: accounts, realtime audio,
plugins of a vendor's shop. The figures are for comparing; 100 % is not a goal.`,
		Example: `  turnspec coverage
  turnspec coverage pi --scenarios cannot
  turnspec coverage opencode --scenarios not-recorded
  turnspec coverage codex --never messages
  turnspec coverage claude --undeclared
  turnspec coverage --ignored-but-seen
  turnspec coverage --values
  turnspec coverage claude --values --json
  turnspec coverage --json`,
		ValidArgsFunction: complete(runtimeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			// Judged before the corpus is read, which takes seconds.
			if state != "" && !slices.Contains(coverage.States(), state) {
				return fmt.Errorf("no state %q: use one of %s", state, strings.Join(coverage.States(), ", "))
			}
			if never != "" {
				if err := coverage.CheckPartName(never); err != nil {
					return err
				}
			}
			c, err := openCorpus(dir)
			if err != nil {
				return err
			}
			if values {
				return printValues(cmd.OutOrStdout(), c, args, asJSON)
			}
			reports, err := coverages(c, args)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				return printJSON(out, reports)
			case state != "":
				return printScenarios(out, reports, state)
			case never != "", undeclared:
				if reports, err = declared(reports); err != nil {
					return err
				}
				if undeclared {
					return printUndeclared(out, reports)
				}
				return printNever(out, reports, never)
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
	f.BoolVar(&asJSON, "json", false, "print JSON, with all scenarios and all names that the corpus lacks")
	f.StringVar(&state, "scenarios", "", "list the scenarios of this state with the reasons: performed, cannot or not-recorded")
	f.BoolVar(&markdown, "markdown", false, "print a Markdown table")
	f.BoolVar(&undeclared, "undeclared", false, "list names that are on the wire but not declared")
	f.BoolVar(&ignored, "ignored-but-seen", false, "list messages that the reference adapters ignore although they occur, with the reasons")
	f.BoolVar(&values, "values", false, "list members of events and of the wire that never vary, with the reasons")
	f.StringVar(&never, "never", "", "list the names of this kind that the corpus lacks: messages, requests, items, fields or values")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "undeclared", "ignored-but-seen", "never", "scenarios")
	cmd.MarkFlagsMutuallyExclusive("values", "markdown", "undeclared", "ignored-but-seen", "never", "scenarios")
	completeFlag(cmd, "scenarios", coverage.States)
	completeFlag(cmd, "never", coverage.PartNames)
	return cmd
}

// printValues lists the members of the runtimes named, or of all, that never vary.
func printValues(w io.Writer, c fixtures.Corpus, runtimes []string, asJSON bool) error {
	if len(runtimes) == 0 {
		runtimes = wires.Names()
	}
	for _, name := range runtimes {
		if _, err := wires.Get(name); err != nil {
			return fmt.Errorf("--values takes runtimes without a version: %w", err)
		}
	}
	members, err := coverage.MembersOf(c, runtimes)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, members)
	}
	if err := printTable(w, coverage.SummaryTable(members)); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return printTable(w, coverage.GapTable(members))
}

// coverages returns the reports of the versions named, or of all.
func coverages(c fixtures.Corpus, args []string) ([]*coverage.Report, error) {
	if len(args) == 0 {
		args = wires.Names()
	}
	var out []*coverage.Report
	for _, arg := range args {
		name, version, _ := strings.Cut(arg, "@")
		if _, err := wires.Get(name); err != nil {
			return nil, err
		}
		versions, err := c.Versions(name)
		switch {
		case err != nil:
			return nil, err
		case version != "" && !slices.Contains(versions, version):
			return nil, fmt.Errorf("the corpus has no case of %s; it has %s", arg, cmp.Or(strings.Join(versions, ", "), "none of "+name))
		case version != "":
			versions = []string{version}
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

// printScenarios lists the scenarios that have a state.
func printScenarios(w io.Writer, reports []*coverage.Report, state string) error {
	for _, rep := range reports {
		all := rep.Scenarios[coverage.State(state)]
		fmt.Fprintf(w, "%s %s: %d scenarios %s\n", rep.Runtime, rep.Version, len(all), strings.ReplaceAll(state, "-", " "))
		var rows [][]string
		for _, s := range all {
			rows = append(rows, []string{"  " + s.ID, s.Reason})
		}
		if err := printTable(w, rows); err != nil {
			return err
		}
	}
	return nil
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

// declared returns the reports of the versions with a schema, or an error if there is
// none.
func declared(reports []*coverage.Report) ([]*coverage.Report, error) {
	some := slices.DeleteFunc(slices.Clone(reports), func(r *coverage.Report) bool { return r.Parts == nil })
	if len(some) == 0 && len(reports) > 0 {
		_, err := reports[0].Part("")
		return nil, err
	}
	return some, nil
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
