package facts

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
)

// Altered is a run in which one fact is altered in all events.
type Altered struct {
	*conformance.Run
	Fact Fact
	How  Alteration
}

// Falsified returns the runs that make a fact of the run false, in the ways in which
// it can be.
func Falsified(r *conformance.Run, f Fact) []Altered {
	var out []Altered
	for _, how := range f.falsifications() {
		if events := Alter(r.Events, f, how); events != nil {
			out = append(out, Altered{r.WithEvents(events), f, how})
		}
	}
	return out
}

// Fails reports whether a check fails on the events of a run. It is false for checks
// of the golden tier, and for those that judge further runs: with faults, or with
// other steps.
func Fails(c *conformance.Check, r *conformance.Run) bool {
	if c.Judge == nil || c.AlternateSteps != nil || slices.Equal(c.Tiers, []conformance.Tier{conformance.TierGolden}) {
		return false
	}
	return judge.Apply(c, &conformance.Trial{Run: r}, conformance.TierWitness).Verdict == conformance.Fail
}
