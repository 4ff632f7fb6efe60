package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var summarizesOutput = broken.Adapter{
	Name: "summarizes-output", Sentence: "replaces the output of a tool with its own text",
	Proves: "tool.output",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok {
			d.Output = "The tool ran."
			e.Data = d
		}
		out(e)
	}),
}

var errorsThatAreNone = broken.Adapter{
	Name: "errors-that-are-none", Sentence: "marks no result as an error",
	Proves: "tool.output",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok {
			d.IsError = d.Status == event.ToolOK
			e.Data = d
		}
		out(e)
	}),
}
