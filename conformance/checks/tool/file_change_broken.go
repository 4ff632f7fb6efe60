package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var losesTheChange = broken.Adapter{
	Name: "loses-the-change", Sentence: "reports that a file was changed, without the change",
	Fails: []string{"tool.file-change"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolResult); ok {
			d.Changes = nil
			e.Data = d
		}
		out(e)
	}),
}
