package permission

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/faulted"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
)

// StaleRequest is the check permission.stale-request.
var StaleRequest = &conformance.Check{
	ID: "permission.stale-request", Source: "approvals that are granted for a turn that was stopped", Tiers: []conformance.Tier{conformance.TierWitness},
	Sentence:      "A question about a turn that has ended gets one reply at once, which allows nothing, and does not reach the user.",
	JudgesWritten: true,
	Faults:        []string{"stale-request"},
	JudgeFault:    judgeStale,
}

func judgeStale(plain, r *conformance.Run, f *conformance.Finding) {
	asked := playedRequest(r, fault.StaleRequestID)
	if asked == nil && r.Hang == "" {
		return // the run had ended before
	}
	before := f.Assertions
	faulted.JudgeHarmless(plain, r, f)
	if f.Assertions == before || r.Hang != "" {
		return
	}
	fail := faulted.Failer(r, f)
	for e, d := range runindex.EventsOf[event.PermissionRequest](r) {
		if strings.Contains(d.RequestID, fault.StaleRequestID) {
			fail("the user is asked (event %d) about a turn that has ended", e.Seq)
		}
	}
	n := 0
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindClose && w.Process == asked.Line.Process && w.At.Sub(r.Start) <= asked.At {
			return // after stdin is closed no reply is possible
		}
		if w.Kind != standin.KindAnswer || !strings.HasPrefix(w.RequestID, fault.StaleRequestID) {
			continue
		}
		n++
		if w.Answer == standin.Allow || w.Answer == standin.Value {
			fail("the turn of the question has ended, but the subject replies %s", w.Answer)
		}
		if late := w.At.Sub(r.Start) - asked.At; late > 0 {
			fail("the reply comes %v after the question", late)
		}
	}
	if n != 1 {
		fail("%d replies to a question about a turn that has ended, want one", n)
	}
}

// playedRequest returns the request of a fault whose id has the prefix, or nil if it was
// not played.
func playedRequest(r *conformance.Run, prefix string) *conformance.PlayedLine {
	for i, p := range r.Played {
		if strings.Contains(string(p.Line.Bytes), `"`+prefix) {
			return &r.Played[i]
		}
	}
	return nil
}
