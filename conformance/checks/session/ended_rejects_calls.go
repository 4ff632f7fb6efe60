package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// EndedRejectsCalls is the check session.ended-rejects-calls.
var EndedRejectsCalls = &conformance.Check{
	ID: "session.ended-rejects-calls", Source: "adapters whose send hangs when the process dies", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:  []string{"session.ended-refuses"},
	Mend:     "Set a flag when the runtime exits or the session is closed, and check it first in each call. Send then returns an error at once; Stop and Close return nil.",
	Sentence: "After a session has ended, by itself or by Close, Send returns an error, and Stop and a second Close return.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		judgeEnded(t.Run, f)
	},
	Faults: []string{"kill", "close-stdout"},
	JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
		judgeEnded(r, f)
	},
}

// judgeEnded judges the calls on a session that had ended.
func judgeEnded(r *conformance.Run, f *conformance.Finding) {
	for _, a := range r.StepsAfterEnd {
		f.Asserted(1)
		switch {
		case perform.Unfinished(a.Err):
			f.Failf("the session has ended: %v", a.Err)
		case a.Step.Verb == fixtures.VerbSend && a.Err == nil:
			f.Failf("the session has ended, but Send accepted a message")
		case a.Step.Verb == fixtures.VerbClose && a.Err != nil:
			f.Failf("the session was closed, and a second Close returned an error: %v", a.Err)
		}
	}
}
