package component

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Update is the check component.update.
var Update = &conformance.Check{
	ID: "component.update", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges: []string{
		"component_update", "component_update.component_id", "component_update.component_name", "component_update.merge", "component_update.props",
		"component_update.surface",
	},
	Needs:    []string{"component_update"},
	Mend:     "Apply an update only if name and surface are registered. Merge if the call asks for it, else replace the component of that id.",
	Sentence: "component_update creates, replaces or merges by id on its surface; an unregistered name or surface changes nothing.",
	Judge:    judgeShown,
}

func judgeShown(t *conformance.Trial, f *conformance.Finding) {
	k, ok := KindsOf(t.Scenario)
	if !ok {
		return
	}
	want, got := k.Asked(t.Run), k.emitted(t.Run)
	f.Asserted(want.Tried)
	for e, d := range runindex.EventsOf[event.ComponentUpdate](t.Run) {
		if d.Merge && !want.merged[d.ComponentID] {
			f.At(e, "the update of %s is a merge, but the model asked for none", d.ComponentID)
		}
	}
	shows := func(steps []string) string {
		return strings.Join(slices.DeleteFunc(slices.Clone(steps), gone), "\n") + "\n"
	}
	if w, g := shows(want.steps), shows(got.steps); w != g {
		f.Diff("the shown components are not those that the model showed", w, g)
	}
}
