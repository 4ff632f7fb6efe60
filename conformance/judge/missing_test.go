package judge_test

import (
	"errors"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/fixtures"
)

// TestUnfinishedCaseIsNoPass checks that assertions in a case that was not performed
// to its end are no pass, and that a problem found until then is a failure.
func TestUnfinishedCaseIsNoPass(t *testing.T) {
	for name, run := range map[string]conformance.Run{
		"hang":  {Hang: "the program ended (exit code 3)"},
		"early": {EndedEarly: true, Steps: []conformance.StepResult{{Step: fixtures.Step{Verb: fixtures.VerbOpen}, Err: errors.New("no licence")}}},
	} {
		g := gomega.NewWithT(t)
		run.Scenario, run.Case = &fixtures.Scenario{}, &fixtures.Case{ID: "claude/1/text/x"}
		apply := func(problems ...string) conformance.Result {
			return judge.Apply(&conformance.Check{ID: "x", Judge: func(_ *conformance.Trial, f *conformance.Finding) {
				f.Asserted(1)
				for _, p := range problems {
					f.Failf("%s", p)
				}
			}}, &conformance.Trial{Run: &run}, conformance.TierProcess)
		}
		g.Expect(apply().Verdict).To(gomega.Equal(conformance.NotTried), name)
		g.Expect(apply().Reason).To(gomega.MatchRegexp("not performed to its end: .*(exit code 3|open: no licence)"))
		g.Expect(apply("lost").Verdict).To(gomega.Equal(conformance.Fail), name)
	}
}

// If the subject left the recording, missing events do not fail a check, because the
// run never reached them.
func TestWhatIsMissingAfterTheRecordingWasLeft(t *testing.T) {
	g := gomega.NewWithT(t)
	apply := func(unrecorded []string, look func(f *conformance.Finding)) conformance.Verdict {
		c := &conformance.Check{ID: "x", JudgesWritten: true, Judge: func(_ *conformance.Trial, f *conformance.Finding) {
			f.Asserted(1)
			look(f)
		}}
		run := &conformance.Run{Scenario: &fixtures.Scenario{}, Case: &fixtures.Case{ID: "claude/1/text/x"}, Unrecorded: unrecorded}
		return judge.Apply(c, &conformance.Trial{Run: run}, conformance.TierWitness).Verdict
	}
	missing := func(f *conformance.Finding) { f.Missingf("no reply came") }
	wrong := func(f *conformance.Finding) {
		f.Missingf("no reply came")
		f.Failf("it allowed what was denied")
	}
	left := []string{"process 1: open"}
	g.Expect(apply(nil, missing)).To(gomega.Equal(conformance.Fail))
	g.Expect(apply(left, missing)).To(gomega.Equal(conformance.Unrecorded))
	g.Expect(apply(left, wrong)).To(gomega.Equal(conformance.Fail))
	g.Expect(apply(left, func(*conformance.Finding) {})).To(gomega.Equal(conformance.Pass))
}
