package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
)

// Returns is the check session.returns.
var Returns = &conformance.Check{
	ID: "session.returns", Source: "adapters whose send hangs when the process dies", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Let every wait end when the process exits: close the channels of pending calls, and close Events after the last event.",
	Sentence:      "Open, Send, Answer, Stop and Close return, and Events is closed after Close.",
	JudgesWritten: true,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(len(t.Steps))
		for _, a := range t.Steps {
			if perform.Unfinished(a.Err) {
				f.Hungf("%v", a.Err)
			}
		}
		if t.Hang != "" {
			f.Hungf("the run did not end: %s", t.Hang)
		}
	},
}
