package turn

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Unprompted is the check turn.unprompted.
var Unprompted = &conformance.Check{
	ID: "turn.unprompted", Source: "wire/claude: a turn that a background task begins", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"turn_start.cause"},
	Needs:    []string{"turn_start.cause"},
	Mend:     "If the runtime begins a turn and no sent message waits, emit turn_start with cause task. Do not assign it to the next message.",
	Sentence: "A turn that the runtime starts by itself has a turn_start with cause task, and no other turn has.",
	Judge:    judgeUnprompted,
}

func judgeUnprompted(t *conformance.Trial, f *conformance.Finding) {
	// With the note of a task a request may bring results, of a running turn or of one
	// that was stopped. In the second case the runtime has begun a turn.
	least, most, got := 0, 0, 0
	for _, q := range runindex.Requests(t.Run) {
		switch {
		case !slices.Contains(q.New, "task"):
		case len(q.New) == 1:
			least, most = least+1, most+1
		case slices.ContainsFunc(t.Steps, stopsTurn) && !slices.ContainsFunc(q.New, func(id string) bool { return id != "task" && !strings.HasPrefix(id, "result:") }):
			most++
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
	if got < least || got > most {
		f.Failf("the runtime began %d turns by itself, but %d turns have cause task", least, got)
	}
}

// stopsTurn reports whether a step stops the running turn.
func stopsTurn(a conformance.StepResult) bool {
	return a.Step.Verb == fixtures.VerbStop || a.Step.Verb == fixtures.VerbAnswer && a.Step.What == fixtures.AnswerCancel
}
