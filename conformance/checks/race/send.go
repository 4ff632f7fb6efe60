package race

import (
	"github.com/turnspec/turnspec/conformance"
)

// Send is the check race.send.
var Send = &conformance.Check{
	ID: "race.send", Source: "messages that are lost because they were sent while a turn was being stopped", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"turn", "done"},
	Mend:       "Write a message that comes during a turn, or keep it until the runtime can take it, or return an error. A stop of the turn before must not drop it.",
	Sentence:   "A message that is sent as a turn begins, ends or is being stopped is in a turn or in the queue, or Send returns an error. Its answer is whole.",
	Faults:     []string{"send-early"},
	JudgeFault: judgeRaced,
}
