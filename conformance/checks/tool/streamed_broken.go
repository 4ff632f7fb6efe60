package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var streamsSnapshots = broken.Adapter{
	Name: "streams-snapshots", Sentence: "streams all of a tool's output so far, again and again",
	Proves: "tool.streamed", Runtime: "codex", Why: "Claude Code reports a command's output when it has ended",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		so := map[string]string{}
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.ToolOutput); ok {
				so[d.ToolUseID] += d.Text
				d.Text = so[d.ToolUseID]
				e.Data = d
			}
			out(e)
		}
	}},
}

var showsOutputAtTheEnd = broken.Adapter{
	Name: "shows-output-at-the-end", Sentence: "shows what a command prints only when it has ended",
	Proves: "tool.streamed", Runtime: "codex", Why: "Claude Code reports a command's output when it has ended",
	Mutation: broken.Omit("tool_output"),
}
