package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var pairsByOrder = broken.Adapter{
	Name: "pairs-by-order", Sentence: "gives each result to the tool that began first",
	Proves: "tool.paired",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var open []string
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.ToolStart:
				open = append(open, d.ToolUseID)
			case event.ToolResult:
				if len(open) > 0 {
					d.ToolUseID, open = open[0], open[1:]
				}
				e.Data = d
			}
			out(e)
		}
	}},
}
