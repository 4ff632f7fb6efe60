package race

import (
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/fixtures"
)

var answersBothAtOnce = broken.Adapter{
	Name: "answers-both-at-once", Sentence: "writes a reply for each of two answers that come at once",
	Proves: "race.answer",
	Mutation: broken.Mutation{Around: func(m broken.Moment, verb fixtures.Verb, call func() error) error {
		err := call()
		if verb == fixtures.VerbAnswer && m.AtOnce == fixtures.VerbAnswer {
			m.Allow()
		}
		return err
	}},
}
