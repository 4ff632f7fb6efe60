package live

import (
	"errors"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// TestJudgeTwice checks that a check which fails in the first of two runs is flaky, that
// one which fails in both has failed, and that a run without a failure is the only one.
func TestJudgeTwice(t *testing.T) {
	check := &conformance.Check{ID: "test.x", Tiers: []conformance.Tier{conformance.TierLive}, Judge: func(trial *conformance.Trial, f *conformance.Finding) {
		if f.Asserted(1); trial.Home == "broken" {
			f.Failf("wrong")
		}
	}}
	for name, x := range map[string]struct {
		homes []string
		want  conformance.Verdict
	}{
		"sound":         {[]string{""}, conformance.Pass},
		"broken once":   {[]string{"broken", ""}, conformance.Flaky},
		"broken always": {[]string{"broken", "broken"}, conformance.Fail},
	} {
		g := gomega.NewWithT(t)
		runs := 0
		results, err := judgeTwice([]*conformance.Check{check}, func() (*conformance.Run, error) {
			runs++
			return &conformance.Run{Tier: conformance.TierLive, Home: x.homes[runs-1], Scenario: &fixtures.Scenario{ID: "text/plain"}}, nil
		})
		g.Expect(err).NotTo(gomega.HaveOccurred(), name)
		g.Expect(results[0].Verdict).To(gomega.Equal(x.want), name)
		g.Expect(runs).To(gomega.Equal(len(x.homes)), name)
		_, err = judgeTwice(nil, func() (*conformance.Run, error) { return nil, errors.New("no runtime") })
		g.Expect(err).To(gomega.MatchError("no runtime"), name)
	}
}
