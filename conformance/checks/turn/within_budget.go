package turn

import "github.com/turnspec/turnspec/conformance"

// WithinBudget is the check turn.within-budget.
var WithinBudget = &conformance.Check{
	ID: "turn.within-budget", Source: "an adapter that emitted a delta each 5 ms after the runtime was silent", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Emit an event only because of a line of the runtime or a call of the client, and each event once. Look at the last events of the run.",
	Sentence:      "In each step the subject emits no more events and bytes than a generous multiple of what the runtime wrote, and comes to rest.",
	JudgesWritten: true,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(len(t.Steps))
		if t.OverBudget != "" {
			f.Failf("%s", t.OverBudget)
		}
	},
}
