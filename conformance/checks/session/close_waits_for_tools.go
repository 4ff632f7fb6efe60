package session

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// CloseWaitsForTools is the check session.close-waits-for-tools.
var CloseWaitsForTools = &conformance.Check{
	ID: "session.close-waits-for-tools", Source: "clients that free what their tools use when the session is closed", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:  []string{"session.leaves-nothing"},
	Mend:     "Count the running calls of tools and hooks. Close cancels their contexts and waits for all of them before it returns.",
	Sentence: "After Close has returned, no tool or hook of the client still runs for the session.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		judgeLeft(t.Run, f)
	},
	Faults: []string{"kill"},
	JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
		judgeLeft(r, f)
	},
}

// judgeLeft demands that cancelled tools and hooks returned before the session was
// closed.
func judgeLeft(r *conformance.Run, f *conformance.Finding) {
	for _, w := range r.BlockedCalls {
		if !w.Cancelled {
			continue
		}
		for _, a := range slices.Concat(r.Steps, r.StepsAfterEnd) {
			closed := a.At + a.For
			if a.Step.Verb != fixtures.VerbClose || a.Err != nil || closed < w.At {
				continue
			}
			f.Asserted(1)
			if w.Returned == 0 || w.Returned > closed {
				f.Failf("the session is closed, but %s still runs for it", w.Name)
			}
			break
		}
	}
}
