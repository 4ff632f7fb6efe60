package turn

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/faulted"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// SlowContinues is the check turn.slow-continues.
var SlowContinues = &conformance.Check{
	ID: "turn.slow-continues", Source: "timeouts that end the turn while the model thinks", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:    []string{"turn.slow-lives"},
	Sentence:   "If the runtime writes nothing for minutes but answers requests, the turn continues.",
	Faults:     []string{"long-pause"},
	JudgeFault: judgeSlow,
}

// judgeSlow judges a run in which the runtime paused for minutes.
func judgeSlow(plain, r *conformance.Run, f *conformance.Finding) {
	if !runindex.HasStep(plain, fixtures.VerbKill) { // a signal then cuts the wire at another place
		faulted.JudgeHarmless(plain, r, f)
	}
}
