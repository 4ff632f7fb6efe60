package question

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheAnswer = broken.Adapter{
	Name: "forgets-the-answer", Sentence: "sends an answer of the user without its value",
	Proves:   "question.answered",
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) { a.Value = nil }},
}

var asksWithoutChoices = broken.Adapter{
	Name: "asks-without-choices", Sentence: "asks the user a question without its text and choices",
	Proves:   "question.answered",
	Mutation: broken.Change(func(d *event.Interrupt) { d.Props = event.Raw(`{"title":"A question"}`) }),
}

var resolvesWithoutTheAnswer = broken.Adapter{
	Name: "resolves-without-the-answer", Sentence: "reports that a question was answered, without the answer",
	Proves:   "question.answered",
	Mutation: broken.Change(func(d *event.InterruptResolved) { d.Value = event.Raw("null") }),
}
