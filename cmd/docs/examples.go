package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
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

// exampleList names for each check a defect and a case in which the check fails: lines
// `check defect case`. The version of a case may be "newest".
//
//go:embed examples.txt
var exampleList string

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

// allExamples produces the failures that examples.txt names.
func allExamples(ctx context.Context, checks []*conformance.Check) (map[string]example, error) {
	return examplesOf(ctx, checks, exampleList)
}

// examplesOf produces the failures that lines of examples.txt name.
func examplesOf(ctx context.Context, checks []*conformance.Check, list string) (map[string]example, error) {
	out := map[string]example{}
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		i := slices.IndexFunc(checks, func(c *conformance.Check) bool { return len(words) == 3 && c.ID == words[0] })
		if i < 0 {
			return nil, fmt.Errorf("examples.txt: %q names no check, defect and case; run `go run ./cmd/docs --search`", line)
		}
		text := ""
		for n := 0; n < mostTries && text == ""; n++ {
			var err error
			if text, err = fail(ctx, checks[i], words[1], words[2]); err != nil {
				return nil, err
			}
		}
		if text == "" {
			return nil, fmt.Errorf("examples.txt: %s does not fail %s on %s any more; run `go run ./cmd/docs --search`", words[1], words[0], words[2])
		}
		out[words[0]] = example{words[1], fixtures.Embedded().Resolve(words[2]), text}
	}
	return out, nil
}

// fail lets an adapter with a defect perform a case, and returns the failure of the
// check as text, or "" if it does not fail.
func fail(ctx context.Context, c *conformance.Check, defect, id string) (string, error) {
	d, err := defects.Named(defect)
	if err != nil {
		return "", err
	}
	runtime, _, _ := fixtures.SplitCaseID(id)
	a := reference.Of(runtime)
	if a == nil {
		return "", fmt.Errorf("%s: there is no adapter for %s", id, runtime)
	}
	rep, err := runner.Run(ctx, conformance.Config{
		Corpus: fixtures.Embedded(), Checks: []*conformance.Check{c}, Cases: []string{id}, Places: 1, Seed: 1,
		Subjects: []conformance.Subject{d.Subject(backend.Adapter(runtime, a))},
	})
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

// writeExamples looks for a failure of each check, and writes examples.txt.
func writeExamples(ctx context.Context, file string) error {
	var b strings.Builder
	for _, c := range everyCheck() {
		defect, id, err := findExample(ctx, c)
		if err != nil {
			return err
		}
		if id == "" {
			fmt.Fprintln(os.Stderr, "no example of", c.ID)
			continue
		}
		fmt.Fprintln(os.Stderr, c.ID, defect, id)
		fmt.Fprintln(&b, c.ID, defect, ofNewest(id))
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// ofNewest returns the id with "newest" in place of the newest version, so that the next one
// changes no example.
func ofNewest(id string) string {
	runtime, _, scenario := fixtures.SplitCaseID(id)
	if newest := runtime + "/newest/" + scenario; fixtures.Embedded().Resolve(newest) == id {
		return newest
	}
	return id
}

// findExample returns a defect and a case in which it fails the check.
func findExample(ctx context.Context, c *conformance.Check) (defect, id string, err error) {
	for _, d := range proving(c) {
		ids, err := candidates(c, d)
		if err != nil {
			return "", "", err
		}
		for _, id := range ids {
			text, err := fail(ctx, c, d.Name, id)
			if err != nil {
				return "", "", err
			}
			if text != "" {
				return d.Name, id, nil
			}
		}
	}
	return "", "", nil
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

// candidates returns the newest cases of the defect's runtimes: first those of the
// reported bug, then those of the check's topic, the shortest first.
func candidates(c *conformance.Check, d defects.Defect) ([]string, error) {
	corpus := fixtures.Embedded()
	all, err := corpus.CaseIDs()
	if err != nil {
		return nil, err
	}
	topic, _, _ := strings.Cut(c.ID, ".")
	rank := func(scenario string) int {
		switch {
		case slices.ContainsFunc(defects.Bugs(), func(b defects.Bug) bool { return b.Check == c.ID && b.Scenario == scenario }):
			return 0
		case strings.HasPrefix(scenario, topic+"/"):
			return 1
		}
		return 2
	}
	var ids []string
	size := map[string]int64{}
	for _, id := range fixtures.Newest(all) {
		if runtime, _, _ := fixtures.SplitCaseID(id); reference.Of(runtime) == nil || d.Runtime != "" && d.Runtime != runtime {
			continue
		}
		file, err := fs.Stat(corpus.FS, id+".txtar")
		if err != nil {
			return nil, err
		}
		ids, size[id] = append(ids, id), file.Size()
	}
	slices.SortStableFunc(ids, func(a, b string) int {
		_, _, x := fixtures.SplitCaseID(a)
		_, _, y := fixtures.SplitCaseID(b)
		return cmp.Or(rank(x)-rank(y), cmp.Compare(size[a], size[b]))
	})
	return ids, nil
}
