package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/requests"
	"github.com/turnspec/turnspec/conformance/report/table"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

type censusFlags struct {
	corpus                             string
	scenarios, facts                   []string
	write, stored, json, markdown, all bool
	workers                            int
}

func censusCmd() *cobra.Command {
	var f censusFlags
	cmd := &cobra.Command{
		Use:   "census [RUNTIME[@VERSION]…]",
		Short: "Change each request, and compare what the real runtime does with the stand-in",
		Long: `Census changes what the reference adapter gives to a runtime, one argument, variable
or member of a line at a time: it is left out, null, of another type, empty, or has a
value that no runtime knows; an id that the runtime gave becomes one that it never gave;
a line is written twice. Of a request over HTTP the method, the path, the ids in it and
the members of the body are changed. The real runtime, with the scripted
model and without a network, gets the change, and so does the stand-in. The stand-in is

  too kind      if the real runtime refuses the change, exits or goes no further, and no
                check fails; if the stand-in answers the same, but the run is not judged
                because no recording holds the request, it agrees
  too strict    if the real runtime does the same as without the change, and the stand-in
                does not, or a check fails that passes on the runtime; those that compare
                with what the user chose do not count (session.open-options,
                tool.client-offered, turn.files)
  other answer  if both refuse, with another code or in another way
  unseen        if the real runtime does something else, the stand-in what is recorded,
                and no check fails

Without --scenario it takes scenarios that hold each fact, the short ones first. That
takes many minutes. --write stores what the runtime did beside the cases, and keeps what
was not tried again: the stand-in refuses what it refused, and turnspec facts --sweep
--written leaves out what it ignores. --stored takes what the runtime did from there; without
a runtime it compares every version of which something is stored.

Exit codes: 0 the stand-in agrees, or it is known why not; 1 it does not; 2 it cannot be
compared.`,
		Example: `  turnspec census claude
  turnspec census codexexec --scenario text/plain --json
  turnspec census claude --fact 'argv *' --write
  turnspec census --stored --markdown`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.stored {
				return errors.New("census needs a runtime, such as claude; or --stored, for all of which something is stored")
			}
			return nil
		},
		ValidArgsFunction: complete(runtimeNames),
		RunE:              f.run,
	}
	fl := cmd.Flags()
	corpusFlag(cmd, &f.corpus)
	fl.StringArrayVar(&f.scenarios, "scenario", nil, "perform this scenario (again for more; default: some that hold each fact)")
	fl.StringArrayVar(&f.facts, "fact", nil, "glob over facts, such as 'argv *' (again for more; default: all)")
	fl.BoolVar(&f.write, "write", false, "store what the runtime did beside the cases")
	fl.BoolVar(&f.stored, "stored", false, "take what the runtime did from the corpus, and ask only the stand-in")
	fl.BoolVar(&f.all, "all", false, "print the changes in which both agree, too")
	fl.BoolVar(&f.json, "json", false, "print JSON, with all changes")
	fl.BoolVar(&f.markdown, "markdown", false, "print a Markdown page: a table of the versions, and each disagreement with its reason")
	fl.IntVar(&f.workers, "workers", 2, "how many runs at a time")
	cmd.MarkFlagsMutuallyExclusive("write", "stored")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown", "all")
	completeFlag(cmd, "scenario", scenarioIDs)
	return cmd
}

// censusResult is what a census of one version found.
type censusResult struct {
	Runtime string         `json:"runtime"`
	Version string         `json:"version"`
	Changes []requests.Row `json:"changes"`
}

func (f *censusFlags) run(cmd *cobra.Command, args []string) error {
	corpus, err := openCorpus(f.corpus)
	if err != nil {
		return err
	}
	disk := ""
	if f.write {
		if disk, corpus, err = corpusOnDisk(f.corpus); err != nil {
			return err
		}
	}
	var all []*requests.Census
	if len(args) == 0 {
		tables, err := refusal.All(corpus)
		if err != nil {
			return err
		}
		for _, t := range tables {
			args = append(args, t.Runtime+"@"+t.Version)
		}
	}
	for _, arg := range args {
		c, err := f.census(corpus, arg)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	if !f.stored {
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
	var found []censusResult
	for _, c := range all {
		c.Progress = beat.step
		rows, runErr := c.Run(ctx)
		if f.write && len(rows) > 0 {
			if err := writeRequests(cmd.OutOrStdout(), corpus, disk, c.Runtime, rows); err != nil {
				return err
			}
		}
		if runErr != nil {
			return runErr
		}
		found = append(found, censusResult{c.Runtime.Name, c.Runtime.Version, rows})
	}
	if err := f.print(cmd.OutOrStdout(), found); err != nil {
		return err
	}
	for _, r := range found {
		if requests.Unexplained(r.Changes) > 0 {
			return errFailed
		}
	}
	return nil
}

// census returns a census of a version, of which only what is stored is compared with --stored.
func (f *censusFlags) census(corpus fixtures.Corpus, arg string) (*requests.Census, error) {
	name, version, _ := strings.Cut(arg, "@")
	subjects, err := references(name)
	if err != nil {
		return nil, err
	}
	c := &requests.Census{
		Corpus: corpus, Subject: subjects[0], Checks: checks.All(), Scenarios: f.scenarios, Workers: f.workers,
		Facts: func(fact string) bool {
			return len(f.facts) == 0 || slices.ContainsFunc(f.facts, func(g string) bool { return conformance.Match(g, fact) })
		},
	}
	if !f.stored {
		c.Runtime, err = runtimes.Find("", name, version)
		return c, err
	}
	if version == "" {
		_, version, _ = fixtures.SplitCaseID(corpus.Resolve(name + "/newest"))
	}
	c.Runtime = runtimes.Runtime{Name: name, Version: version}
	c.Stored, err = refusal.Load(corpus, name, version)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("nothing is stored of %s %s; run: turnspec census %s@%s --write", name, version, name, version)
	}
	return c, err
}

func (f *censusFlags) print(out io.Writer, found []censusResult) error {
	switch {
	case f.json:
		return printJSON(out, found)
	case f.markdown:
		return writeCensusPage(out, found)
	}
	for _, r := range found {
		if err := printCensus(out, &r, f.all); err != nil {
			return err
		}
	}
	return nil
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

func printCensus(out io.Writer, found *censusResult, all bool) error {
	counts := countVerdicts(found.Changes)
	lines := [][]string{{"verdict", "fact", "change", "the runtime", "the stand-in", "checks", "scenario", "reason"}}
	for _, r := range found.Changes {
		if r.Verdict != requests.Agrees || all {
			lines = append(lines, []string{string(r.Verdict), r.Fact, string(r.Change), effectText(&r.Outcome), effectText(&r.StandIn), strings.Join(r.Seen, " "), r.Scenario, r.Reason})
		}
	}
	if len(lines) > 1 {
		if err := printTable(out, lines); err != nil {
			return err
		}
	}
	var each []string
	for _, v := range requests.Verdicts() {
		each = append(each, fmt.Sprintf("%s %d", v, counts[v]))
	}
	_, err := fmt.Fprintf(out, "%s %s: %d changes: %s (%s); without a known reason %d.\n",
		found.Runtime, found.Version, len(found.Changes), strings.Join(each, ", "), agreement(found.Changes), requests.Unexplained(found.Changes))
	return err
}

func countVerdicts(rows []requests.Row) map[requests.Verdict]int {
	counts := map[requests.Verdict]int{}
	for _, r := range rows {
		counts[r.Verdict]++
	}
	return counts
}

// agreement returns the share of the changes in which the stand-in agrees.
func agreement(rows []requests.Row) string {
	return fmt.Sprintf("%.1f %%", 100*float64(countVerdicts(rows)[requests.Agrees])/float64(max(len(rows), 1)))
}

// writeCensusPage writes a Markdown page of all versions.
func writeCensusPage(out io.Writer, found []censusResult) error {
	w := table.New(out)
	w.Printf("# The stand-in beside the real runtimes\n\n" +
		"Changes of one argument, variable or member of a line that the reference adapter writes, given to the real runtime and to its stand-in.\n" +
		"`turnspec census --help` says what the verdicts mean, and `turnspec census RUNTIME --write` asks the runtime again.\n\n")
	head := []string{"runtime", "version", table.Align + "changes"}
	for _, v := range requests.Verdicts() {
		head = append(head, table.Align+string(v))
	}
	head = append(head, table.Align+"agreement", table.Align+"no reason known")
	var versions, rows [][]string
	for _, r := range found {
		counts := countVerdicts(r.Changes)
		row := []string{r.Runtime, r.Version, strconv.Itoa(len(r.Changes))}
		for _, v := range requests.Verdicts() {
			row = append(row, strconv.Itoa(counts[v]))
		}
		versions = append(versions, append(row, agreement(r.Changes), strconv.Itoa(requests.Unexplained(r.Changes))))
		for _, c := range r.Changes {
			if c.Verdict != requests.Agrees {
				rows = append(rows, []string{
					r.Runtime + " " + r.Version, table.Escape(c.Fact), string(c.Change),
					table.Escape(effectText(&c.Outcome)), table.Escape(effectText(&c.StandIn)), string(c.Verdict), table.Escape(c.Reason),
				})
			}
		}
	}
	w.Markdown(head, versions)
	w.Printf("\n")
	w.Markdown([]string{"runtime", "fact", "change", "the runtime", "the stand-in", "verdict", "reason"}, rows)
	return w.Err()
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
