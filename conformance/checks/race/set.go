package race

import (
	"github.com/turnspec/turnspec/conformance"
)

// Set is the check race.set.
var Set = &conformance.Check{
	ID: "race.set", Source: "a mode chosen while the answer ends", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"turn", "done"},
	Mend:       "Write the setting, or return an error. Do not keep it for a point that has passed already.",
	Sentence:   "A model or mode that is set as a turn runs or ends is set, or the call returns an error, and the next turn works.",
	Faults:     []string{"set-early"},
	JudgeFault: judgeRaced,
}
