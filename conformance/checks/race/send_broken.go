package race

import (
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures"
)

var dropsWhileStopping = broken.Adapter{
	Name: "drops-while-stopping", Sentence: "accepts a message while a turn is being stopped, and drops it",
	Proves: "race.send",
	Mutation: broken.Mutation{Around: func(m broken.Moment, verb fixtures.Verb, call func() error) error {
		if verb == fixtures.VerbSend && m.Stopping {
			return nil
		}
		return call()
	}},
}
