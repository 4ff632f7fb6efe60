package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var showsAPartAsTheWhole = broken.Adapter{
	Name: "shows-a-part-as-the-whole", Sentence: "does not report that the runtime cut an output",
	Proves: "tool.truncated", Runtime: "claude", Why: "Codex states it in the output alone, in words that a command may print too",
	Mutation: broken.Change(func(d *event.ToolResult) { d.Truncated = false }),
}
