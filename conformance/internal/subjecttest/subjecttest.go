// Package subjecttest runs subjects in the tests of the packages that connect them.
package subjecttest

import (
	"slices"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

// Run judges a subject on cases of the corpus by the checks of runs without faults. It
// returns the first problem of each check that failed, and how often each check passed.
func Run(t *testing.T, s conformance.Subject, cases ...string) (failed map[string]string, passed map[string]int) {
	t.Helper()
	return run(t, s, withoutFaults(), cases)
}

// RunOnce is like Run, but leaves out the checks that perform a case again with other steps. It
// is for subjects that hang: each of their runs takes as long as the suite waits for them.
func RunOnce(t *testing.T, s conformance.Subject, cases ...string) (failed map[string]string, passed map[string]int) {
	t.Helper()
	once := slices.DeleteFunc(withoutFaults(), func(c *conformance.Check) bool { return c.AlternateSteps != nil })
	return run(t, s, once, cases)
}

func run(t *testing.T, s conformance.Subject, cs []*conformance.Check, cases []string) (failed map[string]string, passed map[string]int) {
	t.Helper()
	rep, err := runner.Run(t.Context(), conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{s}, Checks: cs, Cases: cases, Workers: 4, SingleTry: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	failed, passed = map[string]string{}, map[string]int{}
	for _, r := range rep.Results {
		switch {
		case r.Verdict == conformance.Fail && len(r.Problems) > 0:
			failed[r.Check.ID] = r.Case + ": " + r.Problems[0].Text
		case r.Verdict.Bad():
			failed[r.Check.ID] = r.Case + ": " + string(r.Verdict) + ": " + r.Reason
		case r.Verdict.Judged():
			passed[r.Check.ID]++
		}
	}
	return failed, passed
}

// withoutFaults returns the checks that judge runs without faults. Those with faults are
// about runtimes.
func withoutFaults() (out []*conformance.Check) {
	for _, c := range checks.All() {
		if c.Judge != nil {
			plain := *c
			plain.Faults = nil
			out = append(out, &plain)
		}
	}
	return out
}
