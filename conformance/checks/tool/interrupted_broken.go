package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var spinsForEver = broken.Adapter{
	Name: "spins-for-ever", Sentence: "leaves tools open when the turn ends",
	Proves: "tool.interrupted",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok && (d.Status == event.ToolInterrupted || d.Status == event.ToolBackgrounded) {
			return
		}
		out(e)
	}),
}
