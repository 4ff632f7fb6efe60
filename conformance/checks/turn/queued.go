package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Queued is the check turn.queued.
var Queued = &conformance.Check{
	ID: "turn.queued", Source: "wire/claude: merge and injection", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"user_message"},
	Mend:     "Send a message at once and let the runtime queue it. Emit user_message when the runtime reports that it took the message, and update the queue then.",
	Sentence: "A message sent during a turn is queued, merged or injected as the runtime does it. Each message that reached the model is reported once, and the queue is empty in the end.",
	Judge:    judgeQueued,
}

// duringATurn returns the messages that were sent while a turn ran.
func duringATurn(r *conformance.Run) []string {
	var out []string
	for i, a := range r.Steps {
		if a.Step.Verb != fixtures.VerbSend && a.Step.Verb != fixtures.VerbSteer || a.Err != nil {
			continue
		}
		if runindex.Of(r).TurnAt(i) != nil {
			out = append(out, a.Step.ID)
		}
	}
	return out
}

func judgeQueued(t *conformance.Trial, f *conformance.Finding) {
	late := duringATurn(t.Run)
	f.Asserted(len(late))
	if len(late) == 0 {
		return
	}
	reported := map[string]int{}
	var waiting []string
	for _, m := range runindex.Of(t.Run).Messages() {
		reported[m.Data.MessageID]++
		if m.Turn == 0 {
			f.At(m.Event, "message %s belongs to no turn", m.Data.MessageID)
		}
	}
	for _, d := range runindex.EventsOf[event.Queue](t.Run) {
		waiting = d.MessageIDs
	}
	var reached []string
	for _, q := range runindex.Requests(t.Run) {
		reached = append(reached, q.New...)
	}
	for _, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSend && a.Step.Verb != fixtures.VerbSteer || a.Err != nil {
			continue
		}
		switch n := reported[a.Step.ID]; {
		case n > 1:
			f.Failf("message %s is reported %d times", a.Step.ID, n)
		case n == 0 && slices.Contains(reached, a.Step.ID):
			f.Failf("message %s reached the model, but no event reports it", a.Step.ID)
		}
	}
	if len(waiting) > 0 {
		f.Failf("in the end the queue still holds %v", waiting)
	}
}
