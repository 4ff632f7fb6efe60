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
