package turn

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// NothingAfterTerminal is the check turn.nothing-after-terminal.
var NothingAfterTerminal = &conformance.Check{
	ID: "turn.nothing-after-terminal", Source: "adapters that show deltas after turn/completed", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:      []string{"turn", "done"},
	NeedsFor:   runindex.StreamNeeds,
	Mend:       "Once a turn has ended, drop its late lines, or assign them to the next turn if the runtime has begun it.",
	Sentence:   "No event of a turn follows its terminal event. Late lines of the wire are dropped or belong to the next turn.",
	Faults:     []string{"late-delta", "late-item", "stale-line", "duplicate-end"},
	JudgeFault: faulted.JudgeHarmless,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		for _, turn := range runindex.Of(t.Run).Turns() {
			end, ended := turn.End()
			if !ended {
				continue
			}
			f.Asserted(1)
			i := slices.IndexFunc(turn.Events, func(e conformance.Event) bool { return e.Terminal() })
			for _, e := range turn.Events[i+1:] {
				if !e.Terminal() {
					f.At(e, "%s of turn %d follows its %s (seq %d)", e.Type(), e.Turn, end.Type(), end.Seq)
				}
			}
		}
	},
}
