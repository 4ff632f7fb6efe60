package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// CloseWithoutReader is the check session.close-without-reader.
var CloseWithoutReader = &conformance.Check{
	ID: "session.close-without-reader", Source: "windows that are closed while the model talks", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:  []string{"session.close-unheard"},
	Mend:     "Do not let Close wait until the listener has taken all events: once Close is called, drop or buffer what is left and end the runtime.",
	Sentence: "Close returns and ends the runtime even if the client no longer receives events.",
	Faults:   []string{"nobody-listens"}, JudgeFault: judgeUnread,
}

// judgeUnread judges how long Close took, and whether processes still run after it.
func judgeUnread(_, r *conformance.Run, f *conformance.Finding) {
	for _, a := range r.Steps {
		if a.Step.Verb != fixtures.VerbClose {
			continue
		}
		f.Asserted(1)
		if limit := r.Fault.ClientTimeout + perform.EndLimit; perform.Unfinished(a.Err) || a.For > limit {
			f.Failf("the client receives no events, and Close returned after %v, the limit is %v", a.For, limit)
		}
	}
	faulted.JudgeOrphans(r, f)
}
