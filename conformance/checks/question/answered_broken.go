package question

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheAnswer = broken.Adapter{
	Name: "forgets-the-answer", Sentence: "sends an answer of the user without its value",
	Fails:    []string{"question.answered", "wire.valid-input"},
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) { a.Value = nil }},
}

var asksWithoutChoices = broken.Adapter{
	Name: "asks-without-choices", Sentence: "asks the user a question without its text and choices",
	Fails: []string{"question.answered", "question.plan-approval"},
	Only:  map[string]string{"question.plan-approval": "claude"}, // Codex does not ask the user to approve a plan
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Interrupt); ok {
			d.Props = event.Raw(`{"title":"A question"}`)
			e.Data = d
		}
		out(e)
	}),
}

var resolvesWithoutTheAnswer = broken.Adapter{
	Name: "resolves-without-the-answer", Sentence: "reports that a question was answered, without the answer",
	Fails: []string{"question.answered", "question.plan-approval"},
	Only:  map[string]string{"question.plan-approval": "claude"}, // Codex does not ask the user to approve a plan
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.InterruptResolved); ok {
			d.Value = event.Raw("null")
			e.Data = d
		}
		out(e)
	}),
}
