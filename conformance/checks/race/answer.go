package race

import (
	"github.com/turnspec/turnspec/conformance"
)

// Answer is the check race.answer.
var Answer = &conformance.Check{
	ID: "race.answer", Source: "questions answered in two windows at once, or as the turn is stopped", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:       "Take a question out of the list of open ones in the same critical section in which its reply is chosen. The call that does not find it returns an error.",
	Sentence:   "A question that is answered by two calls at once, or as its turn is being stopped, gets one reply at most. Each call returns, and the turn goes on or ends.",
	Faults:     []string{"answer-twice", "answer-late"},
	JudgeFault: judgeRaced,
}
