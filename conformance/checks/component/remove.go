package component

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// Remove is the check component.remove.
var Remove = &conformance.Check{
	ID: "component.remove", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"component_remove", "component_remove.component_id", "component_update", "component_update.component_id"},
	Needs:    []string{"component_remove"},
	Mend:     "Remove by component id and surface. Ignore an id that does not exist.",
	Sentence: "component_remove removes what the agent removed, and nothing else; removing twice is harmless.",
	Judge:    judgeRemoved,
}

func judgeRemoved(t *conformance.Trial, f *conformance.Finding) {
	k, ok := KindsOf(t.Scenario)
	if !ok {
		return
	}
	want, got := k.Asked(t.Run), k.emitted(t.Run)
	f.Asserted(want.Took)
	// Only ids are compared: component.update judges what the components show.
	ids := func(steps []string) string {
		var out []string
		for _, s := range steps {
			if !gone(s) {
				s, _, _ = strings.Cut(s, ":")
				s += " is there"
			}
			out = append(out, s)
		}
		return strings.Join(slices.Compact(out), "\n") + "\n"
	}
	if strings.Count(ids(want.steps), " is gone\n")+strings.Count(ids(got.steps), " is gone\n") == 0 {
		return
	}
	if w, g := ids(want.steps), ids(got.steps); w != g {
		f.Diff("the removed components are not those that the model removed", w, g)
	}
}
