package permission

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
)

// StaleRequest is the check permission.stale-request.
var StaleRequest = &conformance.Check{
	ID: "permission.stale-request", Source: "approvals that are granted for a turn that was stopped", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "If a question belongs to a turn that has ended, deny it at once and do not emit it. A notice about it has the code late.",
	Sentence:      "A question about a turn that has ended gets one reply at once, which allows nothing, and does not reach the user. If a notice reports it, its code is late.",
	JudgesWritten: true,
	Faults:        []string{"stale-request"},
	JudgeFault:    judgeStale,
}

func judgeStale(plain, r *conformance.Run, f *conformance.Finding) {
	asked := harmlessRequest(plain, r, f, fault.StaleRequestID)
	if asked == nil {
		return
	}
	for e, d := range runindex.EventsOf[event.PermissionRequest](r) {
		if strings.Contains(d.RequestID, fault.StaleRequestID) {
			f.Failf("the user is asked (event %d) about a turn that has ended", e.Seq)
		}
	}
	for e, d := range runindex.EventsOf[event.Notice](r) {
		if !strings.Contains(string(d.Raw), fault.StaleRequestID) {
			continue
		}
		f.Asserted(1)
		if d.Code != event.NoticeLate {
			f.Failf("the notice (event %d) about a question of a turn that has ended has the code %s, want %s", e.Seq, d.Code, event.NoticeLate)
		}
	}
	judgeOneReply(r, f, asked, fault.StaleRequestID, 0, func(a string) bool { return a != standin.Allow && a != standin.Value })
}
