package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
)

// Unprompted is the check turn.unprompted.
var Unprompted = &conformance.Check{
	ID: "turn.unprompted", Source: "wire/claude: a turn that a background task begins", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"turn_start.cause"},
	Needs:    []string{"turn_start.cause"},
	Sentence: "A turn that the runtime starts by itself has a turn_start with cause task, and no other turn has.",
	Judge:    judgeUnprompted,
}

func judgeUnprompted(t *conformance.Trial, f *conformance.Finding) {
	want, got := 0, 0
	for _, q := range runindex.Requests(t.Run) {
		if len(q.New) == 1 && q.New[0] == "task" {
			want++
		}
	}
	for e, d := range runindex.EventsOf[event.TurnStart](t.Run) {
		f.Asserted(1)
		if d.Cause != event.CauseTask {
			continue
		}
		got++
		if len(d.MessageIDs) > 0 {
			f.At(e, "turn %d has cause task, but lists the messages %v", e.Turn, d.MessageIDs)
		}
	}
	if got != want {
		f.Failf("the runtime began %d turns by itself, but %d turns have cause task", want, got)
	}
}
