package question

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheAnswer = broken.Adapter{
	Name: "forgets-the-answer", Sentence: "sends an answer of the user without its value",
	Fails:    []string{"question.answered", "wire.valid-input"},
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) { a.Value = nil }},
}
