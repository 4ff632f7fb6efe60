package tool

import (
	"context"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// later is a context that ends a second after another.
func later(ctx context.Context) context.Context {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() { time.AfterFunc(time.Second, cancel) })
	return out
}

var letsACallRunOn = broken.Adapter{
	Name: "lets-a-call-run-on", Sentence: "cancels the call of a tool or hook a second late",
	Proves: "tool.client-cancelled",
	Mutation: broken.Opening(func(o *conformance.Open) {
		o.Tools, o.Hooks = slices.Clone(o.Tools), slices.Clone(o.Hooks)
		for i, call := range o.Tools {
			o.Tools[i].Call = func(ctx context.Context, c adapters.ToolCall) (adapters.ToolAnswer, error) {
				return call.Call(later(ctx), c)
			}
		}
		for i, hook := range o.Hooks {
			o.Hooks[i].Call = func(ctx context.Context, in event.Raw) (event.Raw, error) { return hook.Call(later(ctx), in) }
		}
	}),
}
