package component

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var cutsAnObject = broken.Adapter{
	Name: "cuts-an-object", Sentence: "loses the last brace of a tool's output",
	Proves: "component.tool-linked",
	Mutation: editing(func(d event.Data) event.Data {
		if r, ok := d.(event.ToolResult); ok {
			r.Output = strings.TrimSuffix(r.Output, "}")
			return r
		}
		return d
	}),
}
