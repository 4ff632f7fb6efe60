package race

import (
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures"
)

var stopsOnlyWhatItShows = broken.Adapter{
	Name: "stops-only-what-it-shows", Sentence: "drops a stop that comes before the runtime has begun the turn",
	Proves: "race.stop",
	Mutation: broken.Mutation{Around: func(m broken.Moment, verb fixtures.Verb, call func() error) error {
		if verb == fixtures.VerbStop && m.Waiting && !m.Turn {
			return nil
		}
		return call()
	}},
}
