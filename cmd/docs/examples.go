package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/report"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// example is a failure of a check.
type example struct {
	Defect, Case string
	Output       string // as `turnspec run` prints it; "": the check has no example
}

// exampleSource returns the example of each check.
type exampleSource func(ctx context.Context, checks []*conformance.Check) (map[string]example, error)

// maxExample is the number of lines that an example shows.
const maxExample = 30

// mostTries is how often a defect is tried. One of two calls that race may come first by chance,
// and then some defects do not show.
const mostTries = 20

// examplesOf produces a failure of each check that a broken adapter fails. The table of these
// names the cheapest case, and the fault if it takes one.
func examplesOf(ctx context.Context, checks []*conformance.Check) (map[string]example, error) {
	out := map[string]example{}
	for _, c := range checks {
		shown, ok, err := chooseFailure(c)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		text := ""
		for n := 0; n < mostTries && text == ""; n++ {
			if text, err = fail(ctx, c, shown); err != nil {
				return nil, err
			}
		}
		if text == "" {
			return nil, fmt.Errorf("%s: not so any more; `go test ./conformance/internal/broken -run 'TestMatrix/of/%s$' -update` writes the lines of the adapter again", shown, shown.Adapter)
		}
		out[c.ID] = example{shown.Adapter, caseOf(shown), text}
	}
	return out, nil
}

// caseOf returns the id of the case in which an adapter fails.
func caseOf(f defects.Failure) string {
	return fixtures.Embedded().Resolve(f.Runtime + "/newest/" + f.Scenario)
}

// chooseFailure returns the failure that shows a check best, and whether there is one: that of
// the defect that the check is known for, without a fault if possible, and the shortest; that of
// a reported bug in the scenario of the report.
func chooseFailure(c *conformance.Check) (best defects.Failure, ok bool, err error) {
	for _, d := range proving(c) {
		lines, err := defects.Failures(d)
		if err != nil {
			return best, false, err
		}
		lines = slices.DeleteFunc(lines, func(f defects.Failure) bool { return f.Check != c.ID || reference.Of(f.Runtime) == nil })
		if len(lines) == 0 {
			continue
		}
		best = slices.MinFunc(lines, func(f, g defects.Failure) int {
			return cmp.Or(cmp.Compare(min(len(f.Fault), 1), min(len(g.Fault), 1)), cmp.Compare(sizeOf(f), sizeOf(g)))
		})
		for _, b := range defects.Bugs() {
			if b.Check == c.ID && b.Defect == d.Name {
				best.Scenario = b.Scenario
			}
		}
		return best, true, nil
	}
	return best, false, nil
}

// sizeOf returns the size of the case in which an adapter fails; 0 if there is no such case,
// which performing it reports.
func sizeOf(f defects.Failure) int64 {
	file, err := fs.Stat(fixtures.Embedded().FS, caseOf(f)+".txtar")
	if err != nil {
		return 0
	}
	return file.Size()
}

// fail lets an adapter with a defect perform a case, and returns the failure of the
// check as text, or "" if it does not fail.
func fail(ctx context.Context, c *conformance.Check, f defects.Failure) (string, error) {
	d, err := defects.Named(f.Adapter)
	if err != nil {
		return "", err
	}
	a := reference.Of(f.Runtime)
	if a == nil {
		return "", fmt.Errorf("%s: there is no adapter for %s", f, f.Runtime)
	}
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Checks: []*conformance.Check{c}, Cases: []string{caseOf(f)}, Places: 2, Seed: 1,
		Subjects: []conformance.Subject{d.Subject(backend.Adapter(f.Runtime, a))},
	}
	if f.Fault != "" {
		cfg.Faults = []conformance.FaultAt{{Name: f.Fault}}
	}
	rep, err := runner.Run(ctx, cfg)
	failed := func(r conformance.Result) bool { return r.Verdict == conformance.Fail }
	if err != nil || !slices.ContainsFunc(rep.Results, failed) {
		return "", err
	}
	var b bytes.Buffer
	if err := report.Failures(&b, report.New(rep, report.About{}), report.Style{}); err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "  rerun:") }) // the reference does not fail it
	if len(lines) > maxExample {
		lines = append(lines[:maxExample], "…")
	}
	return strings.Join(lines, "\n"), nil
}

// proving returns the defects that a check catches: first that of a reported bug, then
// those that fail few other checks.
func proving(c *conformance.Check) []defects.Defect {
	out := defects.CaughtBy(c.ID)
	rank := func(d defects.Defect) int {
		if slices.ContainsFunc(defects.Bugs(), func(b defects.Bug) bool { return b.Check == c.ID && b.Defect == d.Name }) {
			return 0
		}
		return len(d.Fails())
	}
	slices.SortStableFunc(out, func(a, b defects.Defect) int { return rank(a) - rank(b) })
	return out
}
