package tool

import (
	"context"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var callsWithNothing = broken.Adapter{
	Name: "calls-with-nothing", Sentence: "calls a tool of the client without its input",
	Proves: "tool.client-called",
	Mutation: toolMutation(func(t *adapters.Tool) {
		call := t.Call
		t.Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
			return call(ctx, adapters.ToolCall{ID: c.ID})
		}
	}),
}

var keepsTheFirstInput = broken.Adapter{
	Name: "keeps-the-first-input", Sentence: "calls the client's tool with the model's input where the user has changed it",
	Proves: "tool.client-called", Runtime: "chat", Why: "Codex asks about no tool of its client",
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) { a.Input = nil }},
}
