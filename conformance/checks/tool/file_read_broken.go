package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var readsNothing = broken.Adapter{
	Name: "reads-nothing", Sentence: "does not mark file reads",
	Fails:    []string{"tool.file-read"},
	Mutation: broken.EachToolStart(func(d *event.ToolStart) { d.IsFileRead = false }),
}
