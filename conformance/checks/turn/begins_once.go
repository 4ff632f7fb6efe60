package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// BeginsOnce is the check turn.begins-once.
var BeginsOnce = &conformance.Check{
	ID: "turn.begins-once", Source: "the event contract (adapters/event): turn_start", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"turn_start"},
	Needs:    []string{"turn", "turn_start"},
	Mend:     "Emit turn_start in the one place where a turn is opened, before anything else of the turn.",
	Sentence: "Each turn begins with one turn_start, before its other events.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		for _, turn := range runindex.Of(t.Run).Turns() {
			f.Asserted(1)
			starts := 0
			for _, e := range turn.Events {
				if e.Type() == event.TypeTurnStart && e.SubagentID == "" {
					starts++
				}
			}
			switch first := turn.Events[0]; {
			case starts != 1:
				f.Failf("turn %d has %d events turn_start", turn.N, starts)
			case first.Type() != event.TypeTurnStart:
				f.At(first, "turn %d begins with %s", turn.N, first.Type())
			}
		}
	},
}
