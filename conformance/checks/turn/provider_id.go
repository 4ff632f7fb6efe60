package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// ProviderID is the check turn.provider-id.
var ProviderID = &conformance.Check{
	ID: "turn.provider-id", Source: "clients that fork or revert at the id of a turn", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"turn_start.provider_turn_id"},
	Needs:    []string{"turn_start.provider_turn_id"},
	Mend:     "Copy the turn id of the runtime's start of a turn into turn_start.provider_turn_id.",
	Sentence: "If the runtime names its turns, turn_start holds that name.",
	Judge:    judgeProviderID,
}

func judgeProviderID(t *conformance.Trial, f *conformance.Finding) {
	if !runindex.Runtime(t.Run).TurnIDs {
		return
	}
	var ids []string
	for _, l := range runindex.Of(t.Run).Lines() {
		if l.Turn != "" {
			ids = append(ids, l.Turn)
		}
	}
	for e, d := range runindex.EventsOf[event.TurnStart](t.Run) {
		if e.SubagentID != "" {
			continue
		}
		f.Asserted(1)
		if got := t.Recorded(d.ProviderTurnID); !slices.Contains(ids, got) {
			f.At(e, "turn %d has the provider_turn_id %q, which no line of the runtime names", e.Turn, got)
		}
	}
}
