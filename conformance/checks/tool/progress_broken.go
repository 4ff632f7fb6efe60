package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// progressOfClaude is why Codex does not show these defects.
const progressOfClaude = "Codex states nothing about a tool that runs"

var dropsProgress = broken.Adapter{
	Name: "drops-progress", Sentence: "takes the progress of a tool for a sign of life and drops it",
	Proves: "tool.progress", Runtime: "claude", Why: progressOfClaude,
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeToolProgress {
			out(e)
		}
	}),
}

var progressAfterTheResult = broken.Adapter{
	Name: "progress-after-the-result", Sentence: "repeats the progress of a tool after its result",
	Proves: "tool.progress", Runtime: "claude", Why: progressOfClaude,
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		last := map[string]event.ToolProgress{}
		return func(e event.Event, out func(event.Event)) {
			out(e)
			switch d := e.Data.(type) {
			case event.ToolProgress:
				last[d.ToolUseID] = d
			case event.ToolResult:
				if p, ok := last[d.ToolUseID]; ok {
					delete(last, d.ToolUseID)
					e.Data = p
					out(e)
				}
			}
		}
	}},
}

var progressOfAnotherTool = broken.Adapter{
	Name: "progress-of-another-tool", Sentence: "gives all progress to the tool that began first",
	Proves: "tool.progress", Runtime: "claude", Why: progressOfClaude,
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var open []string
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.ToolStart:
				open = append(open, d.ToolUseID)
			case event.ToolProgress:
				if len(open) > 0 {
					d.ToolUseID = open[0]
				}
				e.Data = d
			}
			out(e)
		}
	}},
}

var measuresByItself = broken.Adapter{
	Name: "measures-by-itself", Sentence: "counts the time of a tool by itself, in seconds",
	Proves: "tool.progress", Runtime: "claude", Why: progressOfClaude,
	Mutation: broken.Change(func(d *event.ToolProgress) { d.ElapsedMS /= 1000 }),
}
