package permission

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Withdrawn is the check permission.withdrawn.
var Withdrawn = &conformance.Check{
	ID: "permission.withdrawn", Source: "questions that stay open after a rule or another client has decided", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:         []string{"permission_resolved"},
	Mend:          "When the runtime takes a question back, resolve it as cancelled, by withdrawn, and stop asking the user. Refuse an answer that comes later, and write nothing.",
	Sentence:      "A question that the runtime takes back is resolved at once, allows nothing and is not resolved by the user. An answer after that is not written.",
	JudgesWritten: true,
	Judge:         judgeTakenBack,
	Faults:        []string{"withdrawn-request"},
	JudgeFault:    judgeWithdrawn,
}

// judgeTakenBack judges the questions that the runtime took back while they had no reply.
func judgeTakenBack(t *conformance.Trial, f *conformance.Finding) {
	margin := 100 * time.Millisecond // in virtual time: an adapter may emit events in batches
	if t.Tier == conformance.TierProcess {
		margin = perform.PromptLimit
	}
	for _, taken := range questions(t.Run) {
		if taken.Withdrawal == nil || taken.Withdrawal.Read(runindex.Runtime(t.Run)).Kind != wire.Withdrawal {
			continue // the turn ended: permission.resolved judges that
		}
		asked, back := runindex.LineOf(t.Run, taken.Line.Line).At, runindex.LineOf(t.Run, taken.Withdrawal.Line).At
		for _, q := range runindex.Of(t.Run).Questions() {
			if len(q.Asked) == 0 || q.Asked[0].At < asked || q.Asked[0].At > back {
				continue
			}
			f.Asserted(1)
			switch {
			case len(q.Resolved) == 0:
				f.At(q.Asked[0], "the runtime took question %s back, but it is never resolved", q.ID)
			case q.Resolved[0].At > back+margin:
				f.At(q.Resolved[0], "the runtime took question %s back, and it stays open for %v", q.ID, q.Resolved[0].At-back)
			}
		}
	}
}

// judgeWithdrawn judges the one question that is open when the fault comes. The client answers
// it fault.AnswerAfter later.
func judgeWithdrawn(_, r *conformance.Run, f *conformance.Finding) {
	if r.Hang != "" {
		f.Asserted(1)
		f.Hungf("the subject hangs: %s", r.Hang)
		return
	}
	if !runindex.Played(r, r.Fault.Line) {
		return
	}
	var taken conformance.PlayedLine
	for _, p := range r.Played {
		if p.Line.Line == r.Fault.Line && p.Line.Dir == fixtures.Out {
			taken = p // the question has the same number, and is played before
		}
	}
	asked, at := "", -1
	for i, e := range r.Events {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			asked, at = d.RequestID, i
		case event.Interrupt:
			asked, at = d.InterruptID, i
		}
	}
	if at < 0 || r.Events[at].At < runindex.LineOf(r, r.Fault.Line).At {
		return // it was not shown; permission.asked demands that it is
	}
	f.Asserted(2)
	resolved := false
	for _, e := range r.Events[at:] {
		var by event.By
		switch d := e.Data.(type) {
		case event.PermissionResolved:
			if d.RequestID != asked {
				continue
			}
			if by = d.By; d.Allowed {
				f.At(e, "the runtime took question %s back, but the event holds allowed", asked)
			}
		case event.InterruptResolved:
			if d.InterruptID != asked {
				continue
			}
			by = d.By
		default:
			continue
		}
		resolved = true
		if by == event.ByUser {
			f.At(e, "the runtime took question %s back, but it is resolved by the user, who answered later", asked)
		} else if e.At > taken.At+fault.AnswerAfter {
			f.At(e, "the runtime took question %s back, and it stays open for %v", asked, e.At-taken.At)
		}
	}
	if !resolved {
		f.Failf("the runtime took question %s back, but it is never resolved", asked)
	}
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindAnswer && (w.Answer == standin.Allow || w.Answer == standin.Value) && w.At.Sub(r.Began) >= taken.At {
			f.Failf("the runtime took question %s back, but the subject answers it by %s", asked, w.Answer)
		}
	}
}
