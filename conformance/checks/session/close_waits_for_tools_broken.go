package session

import (
	"context"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var abandonsItsTools = broken.Adapter{
	Name: "abandons-its-tools", Sentence: "does not wait for a cancelled call of a tool",
	Proves: "session.close-waits-for-tools",
	Mutation: broken.Opening(func(o *conformance.Open) {
		o.Tools = slices.Clone(o.Tools)
		for i, t := range o.Tools {
			o.Tools[i].Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				done := make(chan func() (adapters.ToolAnswer, error), 1)
				go func() { a, err := t.Call(ctx, c); done <- func() (adapters.ToolAnswer, error) { return a, err } }()
				select {
				case reply := <-done:
					return reply()
				case <-ctx.Done():
					return adapters.ToolAnswer{}, ctx.Err()
				}
			}
		}
	}),
}
