package race

import (
	"github.com/turnspec/turnspec/conformance"
)

// Close is the check race.close.
var Close = &conformance.Check{
	ID: "race.close", Source: "windows closed while an answer begins, or while a stop is on its way", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"turn", "done"},
	Mend:       "Let Close end every wait of the other calls, and close the open tools, blocks, questions and turns in one place, which also runs if a stop is on its way.",
	Sentence:   "A session can be closed at any moment, also while a turn begins, ends or is being stopped: all calls return, and each turn and each tool ends once.",
	Faults:     []string{"close-early", "close-with-stop"},
	JudgeFault: judgeRaced,
}
