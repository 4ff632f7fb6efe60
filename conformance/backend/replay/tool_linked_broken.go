package replay

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var ownToolIDs = broken.Adapter{
	Name: "own-tool-ids", Sentence: "replaces the ids of tools",
	Proves: "replay.tool-linked",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		switch d := e.Data.(type) {
		case event.ToolInput:
			d.ToolUseID = "own-" + d.ToolUseID + "-x"
			e.Data = d
		case event.ToolStart:
			d.ToolUseID = "own-" + d.ToolUseID + "-x"
			e.Data = d
		case event.ToolOutput:
			d.ToolUseID = "own-" + d.ToolUseID + "-x"
			e.Data = d
		case event.ToolResult:
			d.ToolUseID = "own-" + d.ToolUseID + "-x"
			e.Data = d
		}
		out(e)
	}),
}
