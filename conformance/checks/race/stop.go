package race

import (
	"github.com/turnspec/turnspec/conformance"
)

// Stop is the check race.stop.
var Stop = &conformance.Check{
	ID: "race.stop", Source: "stop buttons pressed right after the message, or as the answer ends", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"turn", "done"},
	Mend:       "Remember a stop that comes after Send and before the runtime has begun the turn, and send it as soon as the runtime can take it. Ignore one after the runtime has ended the turn: it must not stop the next.",
	Sentence:   "A turn can be stopped at any moment, from right after its message on, and by two calls at once: it ends once, and a stop that comes after its end changes nothing.",
	Faults:     []string{"stop-early", "stop-late", "stop-twice"},
	JudgeFault: judgeRaced,
}
