package policy

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// FailClosed is the check policy.fail-closed.
var FailClosed = &conformance.Check{
	ID: "policy.fail-closed", Source: "policies that let through what they do not understand", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Deny a call if its command cannot be parsed, or if its tool or input is unknown.",
	Sentence:      "The policy denies what it cannot parse or does not know.",
	JudgesWritten: true,
	Faults:        []string{"unreadable-request"},
	JudgeFault:    judgeUnreadable,
	Judge:         func(t *conformance.Trial, f *conformance.Finding) { judgePolicy(t, f, fixtures.DenyUnknown) },
}

// judgeUnreadable demands a reply that denies to a question or a hook whose call cannot
// be read. A reply of a hook that decides nothing lets the tool run, and so does an error.
func judgeUnreadable(_, r *conformance.Run, f *conformance.Finding) {
	for _, p := range r.Played {
		if !strings.Contains(string(p.Line.Bytes), `"`+fault.UnreadableRequestID) {
			continue
		}
		f.Asserted(1)
		replies := 0
		for _, w := range r.ClientActions {
			if runindex.ClosedStdin(r, w, &p) {
				return // no reply is possible any more
			}
			if w.Kind != standin.KindAnswer || !strings.HasPrefix(w.RequestID, fault.UnreadableRequestID) {
				continue
			}
			replies++
			denies := w.Answer == standin.Deny || w.Answer == standin.Cancel || w.Answer == standin.Failed && !w.Hook
			if !denies {
				f.Failf("what %s asks about cannot be read, but the subject replies %q", w.Asked, w.Answer)
			}
		}
		if replies == 0 {
			f.Failf("what the runtime asks about cannot be read, and it gets no reply")
		}
		return
	}
}
