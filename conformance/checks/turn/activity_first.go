package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// ActivityFirst is the check turn.activity-first.
var ActivityFirst = &conformance.Check{
	ID: "turn.activity-first", Severity: conformance.Should, Source: "user interfaces that look frozen until the first word", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"thinking", "turn_start"},
	Needs:    []string{"turn_start", "thinking"},
	Mend:     "Emit an empty thinking event directly after turn_start.",
	Sentence: "An empty thinking event follows turn_start at once, so that a client can show activity.",
	Judge:    judgeActivity,
}

func judgeActivity(t *conformance.Trial, f *conformance.Finding) {
	for _, turn := range runindex.Of(t.Run).Turns() {
		for i, e := range turn.Events {
			if e.Type() != event.TypeTurnStart {
				continue
			}
			f.Asserted(1)
			rest := turn.Events[i+1:]
			n := slices.IndexFunc(rest, func(e conformance.Event) bool { return e.Type() != event.TypeUserMessage })
			if n < 0 {
				continue
			}
			next := rest[n]
			if d, is := next.Data.(event.Thinking); !is || d.Text != "" || next.At != e.At {
				f.At(next, "the event after the turn_start of turn %d is %s, %v later", e.Turn, next.Type(), next.At-e.At)
			}
		}
	}
}
