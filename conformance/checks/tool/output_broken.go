package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var summarizesOutput = broken.Adapter{
	Name: "summarizes-output", Sentence: "replaces the output of a tool with its own text",
	Proves:   "tool.output",
	Mutation: broken.Change(func(d *event.ToolResult) { d.Output = "The tool ran." }),
}

var errorsThatAreNone = broken.Adapter{
	Name: "errors-that-are-none", Sentence: "marks no result as an error",
	Proves:   "tool.output",
	Mutation: broken.Change(func(d *event.ToolResult) { d.IsError = d.Status == event.ToolOK }),
}
