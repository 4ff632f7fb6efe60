package replay

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var cutsOutput = broken.Adapter{
	Name: "cuts-output", Sentence: "keeps the first letters of a tool's output",
	Proves:   "replay.faithful",
	Mutation: broken.Change(func(d *event.ToolResult) { d.Output = d.Output[:min(3, len(d.Output))] }),
}
