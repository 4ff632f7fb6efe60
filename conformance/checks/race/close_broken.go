package race

import (
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures"
)

var deadlocksInClose = broken.Adapter{
	Name: "deadlocks-in-close", Sentence: "never returns from a Close that meets a Stop",
	Proves: "race.close",
	Mutation: broken.Mutation{Around: func(m broken.Moment, verb fixtures.Verb, call func() error) error {
		if verb == fixtures.VerbClose && m.AtOnce == fixtures.VerbStop || verb == fixtures.VerbStop && m.AtOnce == fixtures.VerbClose {
			select {}
		}
		return call()
	}},
}
