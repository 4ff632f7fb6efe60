package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
)

func factsCmd() *cobra.Command {
	var dir string
	var cases []string
	var sweep, written, asJSON, all bool
	var every int
	cmd := &cobra.Command{
		Use:   "facts [FACT…]",
		Short: "Print which checks judge each fact, or how often they see that it is untrue",
		Long: `A fact is a type of event, such as plan, or a field of one, such as
tool_result.exit_code. Without --sweep facts prints the checks that judge it.

With --sweep it plays each case to the reference adapter, changes each fact in its
events, and applies the checks. A change is made in every second place: the fact is left
out, has a value that it has elsewhere, or the one before, is given twice, or to a
neighbour. Each line counts the pairs of a case and a change, and those in which a check
fails; the weakest facts come first. Checks of the golden tier do not count.

With --sweep --written it changes what the adapter gives to the runtime instead: each
member of each line, each argument and each variable that it adds. The stand-in answers
the changed line, and a check must fail. A member that the runtime ignores is no fact, as
far as turnspec census has found out which those are.

The newest version of each runtime is played; all cases take minutes.`,
		Example: `  turnspec facts tool_result.exit_code
  turnspec facts --sweep --case 'codex/*/tool'
  turnspec facts --sweep --every 10
  turnspec facts --sweep --every 40 done.reason --json
  turnspec facts --sweep --written --case 'codex/*/stop'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			rows, table := listFacts()
			for _, name := range args {
				if !slices.ContainsFunc(rows, func(f facts.Fact) bool { return f.Name == name }) {
					return fmt.Errorf("no fact %q: turnspec facts lists them", name)
				}
			}
			if written && (!sweep || len(args) > 0) {
				return errors.New("--written goes with --sweep, and takes no facts: turnspec facts --sweep --written")
			}
			if !sweep {
				if len(args) > 0 {
					table = slices.DeleteFunc(table, func(r []string) bool { return !slices.Contains(args, r[0]) })
					rows = slices.DeleteFunc(rows, func(f facts.Fact) bool { return !slices.Contains(args, f.Name) })
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printTable(cmd.OutOrStdout(), table)
			}
			corpus, err := openCorpus(dir)
			if err != nil {
				return err
			}
			ids, err := sweepCases(corpus, cases, every)
			if err != nil {
				return err
			}
			swept, err := runSweep(cmd, corpus, ids, args, written)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), swept)
			}
			return printSweep(cmd, swept, all)
		},
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &dir)
	fl.BoolVar(&sweep, "sweep", false, "change each fact in each case, and count the changes that a check sees")
	fl.BoolVar(&written, "written", false, "with --sweep: change what the adapter writes to the runtime")
	fl.StringArrayVar(&cases, "case", nil, "only cases with this id or part of it, such as 'codex/*/tool'; may be repeated")
	fl.IntVar(&every, "every", 1, "play only each n-th case")
	fl.BoolVar(&all, "all", false, "print facts of which no change is missed, too")
	fl.BoolVar(&asJSON, "json", false, "print JSON, with the cases in which a change is missed")
	completeFlag(cmd, "case", caseIDs)
	cmd.ValidArgsFunction = complete(func() []string {
		var out []string
		for _, f := range facts.All(checks.All()) {
			out = append(out, f.Name)
		}
		return out
	})
	return cmd
}

// sweepCases returns the cases of the newest versions that the flags choose.
func sweepCases(c fixtures.Corpus, globs []string, every int) ([]string, error) {
	ids, err := c.CaseIDs()
	if err != nil {
		return nil, err
	}
	ids = fixtures.Newest(ids)
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return len(globs) > 0 && !slices.ContainsFunc(globs, func(g string) bool { return conformance.Match(g, id) })
	})
	var out []string
	for i := 0; i < len(ids); i += max(every, 1) {
		out = append(out, ids[i])
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no case matches %s; turnspec list cases lists them", strings.Join(globs, ", "))
	}
	return out, nil
}

func runSweep(cmd *cobra.Command, corpus fixtures.Corpus, ids, names []string, written bool) ([]facts.Strength, error) {
	beat := newHeartbeat(cmd.ErrOrStderr(), "playing the cases")
	defer beat.stop()
	step, wipe := progress(cmd.ErrOrStderr())
	defer wipe()
	if step == nil {
		step = beat.step
	}
	subjects := map[string]conformance.Subject{}
	for _, s := range builtin() {
		subjects[s.Runtime()] = s
	}
	if written {
		s := facts.Written{Checks: checks.All(), Cases: ids, Corpus: corpus, Subjects: subjects, Workers: 2, Progress: step}
		return s.Run(cmd.Context())
	}
	s := facts.Sweep{
		Checks: checks.All(), Cases: ids, Facts: names, Workers: 2,
		Play:     func(id string) (*conformance.Run, error) { return facts.Play(corpus, subjects, id) },
		Progress: step,
	}
	return s.Run(cmd.Context())
}

func printSweep(cmd *cobra.Command, swept []facts.Strength, all bool) error {
	tried, caught := 0, 0
	table := [][]string{{"seen", "of", "share", "fact", "missed"}}
	for _, s := range swept {
		tried, caught = tried+s.Tried, caught+s.Caught
		if s.Caught == s.Tried && !all {
			continue
		}
		var missed []string
		for _, m := range s.Missed {
			missed = append(missed, fmt.Sprintf("%s: %d of %d, as %s", m.Change, len(m.Cases), m.Tried, m.Cases[0]))
		}
		table = append(table, []string{fmt.Sprint(s.Caught), fmt.Sprint(s.Tried), fmt.Sprintf("%.1f%%", 100*s.Share()), s.Fact, strings.Join(missed, "; ")})
	}
	if err := printTable(cmd.OutOrStdout(), table); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "A check sees %d of %d changes, %.1f %%.\n", caught, tried, 100*float64(caught)/float64(max(tried, 1)))
	return err
}
