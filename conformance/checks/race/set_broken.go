package race

import (
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures"
)

var setsNothingInATurn = broken.Adapter{
	Name: "sets-nothing-in-a-turn", Sentence: "accepts a mode while a turn runs, and drops it",
	Proves: "race.set",
	Mutation: broken.Mutation{Around: func(m broken.Moment, verb fixtures.Verb, call func() error) error {
		if verb == fixtures.VerbSet && m.Turn {
			return nil
		}
		return call()
	}},
}
