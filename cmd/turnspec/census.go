package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/requests"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

func censusCmd() *cobra.Command {
	var dir string
	var scenarios, chosen []string
	var write, stored, asJSON, all bool
	var workers int
	cmd := &cobra.Command{
		Use:   "census RUNTIME[@VERSION]",
		Short: "Change each request, and compare what the real runtime does with the stand-in",
		Long: `Census changes what the reference adapter gives to a runtime, one argument, variable
or member of a line at a time: it is left out, null, of another type, empty, or has a
value that no runtime knows; a line is written twice. The real runtime, with the scripted
model and without a network, gets the change, and so does the stand-in. The stand-in is

  too kind    if the real runtime refuses the change, exits, goes no further or does
              something else, and no check fails
  too strict  if the real runtime does the same as without the change, and a check fails

Without --scenario it takes scenarios that hold each fact, the short ones first. That
takes many minutes.
--write stores what the runtime did beside the cases, and keeps what was not tried again: the stand-in refuses what it refused,
and turnspec facts --sweep --written leaves out what it ignores.`,
		Example: `  turnspec census claude
  turnspec census codexexec --scenario text/plain --json
  turnspec census claude --fact 'argv *' --write
  turnspec census claude --stored`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: complete(runtimeNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, version, _ := strings.Cut(args[0], "@")
			subjects, err := references(name)
			if err != nil {
				return err
			}
			corpus, err := openCorpus(dir)
			if err != nil {
				return err
			}
			disk := ""
			if write {
				if disk, corpus, err = corpusOnDisk(dir); err != nil {
					return err
				}
			}
			c := &requests.Census{
				Corpus: corpus, Subject: subjects[0], Checks: checks.All(), Scenarios: scenarios, Workers: workers,
				Facts: func(fact string) bool {
					return len(chosen) == 0 || slices.ContainsFunc(chosen, func(g string) bool { return conformance.Match(g, fact) })
				},
			}
			if c.Runtime, err = runtimes.Find("", name, version); err != nil {
				return err
			}
			ctx, stop := interruptible(cmd)
			defer stop()
			if stored {
				if c.Stored, err = refusal.Load(corpus, name, c.Runtime.Version); err != nil {
					return err
				}
			} else {
				if err := errNoLive(); err != nil {
					return err
				}
				if err := enter(ctx, isolate.Enter); err != nil {
					return err
				}
				for _, line := range isolate.Report() {
					fmt.Fprintln(cmd.ErrOrStderr(), line)
				}
			}
			beat := newHeartbeat(cmd.ErrOrStderr(), "asking the runtime")
			defer beat.stop()
			c.Progress = beat.step
			rows, runErr := c.Run(ctx)
			if runErr != nil && len(rows) == 0 {
				return runErr
			}
			if write {
				if err := writeRequests(cmd.OutOrStdout(), corpus, disk, c.Runtime, rows); err != nil {
					return err
				}
			}
			if runErr != nil {
				return runErr
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), rows)
			}
			return printCensus(cmd.OutOrStdout(), rows, all)
		},
	}
	f := cmd.Flags()
	corpusFlag(cmd, &dir)
	f.StringArrayVar(&scenarios, "scenario", nil, "perform this scenario (again for more; default: some that hold each fact)")
	f.StringArrayVar(&chosen, "fact", nil, "glob over facts, such as 'argv *' (again for more; default: all)")
	f.BoolVar(&write, "write", false, "store what the runtime did beside the cases")
	f.BoolVar(&stored, "stored", false, "take what the runtime did from the corpus, and ask only the stand-in")
	f.BoolVar(&all, "all", false, "print the changes in which both agree, too")
	f.BoolVar(&asJSON, "json", false, "print JSON, with all changes")
	f.IntVar(&workers, "workers", 2, "how many runs at a time")
	cmd.MarkFlagsMutuallyExclusive("write", "stored")
	completeFlag(cmd, "scenario", scenarioIDs)
	return cmd
}

func writeRequests(out io.Writer, corpus fixtures.Corpus, disk string, rt runtimes.Runtime, rows []requests.Row) error {
	var stored []refusal.Outcome
	switch have, err := refusal.Load(corpus, rt.Name, rt.Version); {
	case err == nil:
		stored = have.Changes
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	r := refusal.Table{
		Runtime: rt.Name, Version: rt.Version, Recorded: time.Now().Format(time.DateOnly) + " turnspec census", Changes: requests.Changes(rows, stored),
	}
	cases, err := corpus.CasesOf(rt.Name, rt.Version)
	if err != nil {
		return err
	}
	r.AcceptRecorded(wires.Find(rt.Name), cases)
	b, err := r.Format()
	if err != nil {
		return err
	}
	file := filepath.Join(disk, filepath.FromSlash(refusal.Path(rt.Name, rt.Version)))
	if err := os.WriteFile(file, b, 0o644); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, "wrote", file); err != nil {
		return err
	}
	return packAgain(out, disk)
}

func printCensus(out io.Writer, rows []requests.Row, all bool) error {
	counts := map[requests.Verdict]int{}
	table := [][]string{{"verdict", "fact", "change", "the runtime", "the stand-in", "checks", "scenario"}}
	for _, r := range rows {
		counts[r.Verdict]++
		if r.Verdict == requests.Agrees && !all {
			continue
		}
		table = append(table, []string{string(r.Verdict), r.Fact, string(r.Change), effectText(&r.Outcome), effectText(&r.StandIn), strings.Join(r.Seen, " "), r.Scenario})
	}
	if err := printTable(out, table); err != nil {
		return err
	}
	var each []string
	for _, v := range requests.Verdicts() {
		each = append(each, fmt.Sprintf("%s %d", v, counts[v]))
	}
	_, err := fmt.Fprintf(out, "%d changes: %s (%.1f %%).\n", len(rows), strings.Join(each, ", "), 100*float64(counts[requests.Agrees])/float64(max(len(rows), 1)))
	return err
}

func effectText(c *refusal.Outcome) string {
	switch c.Effect {
	case refusal.EffectExits:
		return fmt.Sprintf("%s %d: %s", c.Effect, c.Code, clip(c.Message, 60))
	case refusal.EffectRefuses:
		return fmt.Sprintf("%s: %s", c.Effect, clip(string(c.Error), 60))
	case refusal.EffectNone, refusal.EffectSilent, refusal.EffectDiffers:
	}
	return string(c.Effect)
}
