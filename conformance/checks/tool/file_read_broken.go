package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsNothing = broken.Adapter{
	Name: "reads-nothing", Sentence: "does not mark the start of file reads",
	Proves:   "tool.file-read",
	Mutation: broken.Change(func(d *event.ToolStart) { d.IsFileRead = false }),
}

var readsEverything = broken.Adapter{
	Name: "reads-everything", Sentence: "marks each command as a file read",
	Proves:   "tool.file-read",
	Mutation: broken.Change(func(d *event.ToolStart) { d.IsFileRead = d.IsFileRead || d.Tool == "Bash" }),
}
