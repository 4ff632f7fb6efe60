package permission

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// DeclineIsNotCancel is the check permission.decline-is-not-cancel.
var DeclineIsNotCancel = &conformance.Check{
	ID: "permission.decline-is-not-cancel", Source: "acpx#535", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:        []string{"done.stopped"},
	Mend:          "Map deny to the runtime's denial of one call. Use its cancel or interrupt only for the decision cancel.",
	Sentence:      "Declining one tool does not end the turn. Only a stop ends it.",
	JudgesWritten: true,
	Judge:         judgeDecline,
}

// judgeDecline judges turns in which the user denies a tool and does not stop.
func judgeDecline(t *conformance.Trial, f *conformance.Finding) {
	answers := runindex.Answers(t.Run)
	declined := 0
	for _, a := range answers {
		switch {
		case a.What == fixtures.AnswerCancel:
			return
		case runindex.Denies(a):
			declined++
		}
	}
	if declined == 0 {
		return
	}
	f.Asserted(declined)
	f.Sent = t.Tier != conformance.TierLive
	for i, sent := range decisions(t.Run) {
		if i < len(answers) && runindex.Denies(answers[i]) && sent == standin.Cancel {
			f.Failf("question %d: the user answered %s, the subject denied it and stopped the turn", i+1, answers[i].What)
		}
	}
	if runindex.HasStep(t.Run, fixtures.VerbStop) {
		return
	}
	stopsTask := runindex.HasStep(t.Run, fixtures.VerbStopTask) // by the same line as a turn, on some wires
	for _, w := range t.ClientActions {
		if w.Kind == standin.KindStop && !stopsTask && !runindex.HasStep(t.Run, fixtures.VerbClose) && !afterTurns(t.Run, w) {
			f.Failf("the subject stopped the turn; the user had only declined a tool")
		}
	}
	for e, d := range runindex.EventsOf[event.Done](t.Run) {
		if d.Stopped && e.SubagentID == "" {
			f.At(e, "the turn ends stopped; the user had only declined a tool")
		}
	}
}

// afterTurns reports whether a line was written in real time when all turns had
// ended: some subjects stop whatever may run when they are closed.
func afterTurns(r *conformance.Run, w standin.ClientAction) bool {
	if r.Tier != conformance.TierProcess {
		return false
	}
	last, running := time.Time{}, 0
	for _, e := range r.Events {
		switch {
		case e.SubagentID != "":
		case e.Type() == event.TypeTurnStart:
			running++
		case e.Terminal():
			running--
			last = e.TS
		}
	}
	return running <= 0 && w.At.After(last)
}
