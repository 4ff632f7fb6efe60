package session

import (
	"errors"

	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var answersAndFails = broken.Adapter{
	Name: "answers-and-fails", Sentence: "returns an error for an answer that it has sent",
	Proves:   "session.call-results",
	Mutation: broken.Mutation{AnswerError: func(error) error { return errors.New("answer: no reply") }},
}
