package broken

import (
	"context"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
)

// tooling makes a mutation of the tools that a client brings.
func tooling(f func(t *adapters.Tool)) mutation {
	return mutation{open: func(o *conformance.Open) {
		o.Tools = slices.Clone(o.Tools)
		for i := range o.Tools {
			f(&o.Tools[i])
		}
	}}
}

// offering are broken in what they make of a client's tools, and in what they say
// that they can.
func offering() []Adapter {
	return []Adapter{
		{
			Name: "declares-nothing", Sentence: "declares none of what it can do",
			Fails:    []string{"session.capabilities"},
			mutation: mutation{able: func(c *adapters.Capabilities) { *c = adapters.Capabilities{Runtime: c.Runtime} }},
		},
		{
			Name: "offers-without-a-word", Sentence: "offers a tool by its name alone",
			Fails:    []string{"tool.client-offered"},
			mutation: tooling(func(t *adapters.Tool) { t.Description, t.Schema = "", nil }),
		},
		{
			Name: "calls-with-nothing", Sentence: "calls a tool of the client's without its input",
			Fails: []string{"tool.client-called"},
			mutation: tooling(func(t *adapters.Tool) {
				call := t.Call
				t.Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
					return call(ctx, adapters.ToolCall{ID: c.ID})
				}
			}),
		},
		{
			Name: "answers-with-nothing", Sentence: "answers a call of the client's tool with nothing",
			Fails: []string{"tool.client-answered", "wire.own-lines"},
			mutation: tooling(func(t *adapters.Tool) {
				call := t.Call
				t.Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
					_, _ = call(ctx, c)
					return adapters.ToolAnswer{}, nil
				}
			}),
		},
	}
}
