package judge_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/fixtures"
)

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
