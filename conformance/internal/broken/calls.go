package broken

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
)

// starting makes a mutation of tool_start.
func starting(f func(d *event.ToolStart)) mutation {
	return each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.ToolStart); ok {
			f(&d)
			e.Data = d
		}
		out(e)
	})
}

// naming are broken in what they say of a call.
func naming() []Adapter {
	return []Adapter{
		{
			Name: "hides-the-path", Sentence: "leaves the path of a file in the input alone",
			Fails:    []string{"tool.fields"},
			mutation: starting(func(d *event.ToolStart) { d.FilePath = "" }),
		},
		{
			Name: "reads-nothing", Sentence: "does not tell a file read from a command",
			Fails:    []string{"tool.file-read"},
			mutation: starting(func(d *event.ToolStart) { d.IsFileRead = false }),
		},
		{
			Name: "keeps-native-names", Sentence: "tells tools by names of its runtime's own",
			Fails:    []string{"component.tool-linked", "tool.canonical"},
			mutation: starting(func(d *event.ToolStart) { d.Tool = "native_" + d.Tool }),
		},
		{
			Name: "loses-the-change", Sentence: "tells that a file was changed, and not what",
			Fails: []string{"tool.file-change"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolResult); ok {
					d.Changes = nil
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "searches-for-nothing", Sentence: "does not tell what was looked for, where that is known only when the search ends",
			Fails: []string{"tool.web-search"}, Runtime: "codex", Why: "claude tells the query when a search begins",
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolResult); ok && strings.HasPrefix(d.ToolUseID, "ws_") {
					d.Output = ""
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "spawns-in-silence", Sentence: "tells the call that spawns a sub-agent like any other",
			Fails:    []string{"subagent.spawn"},
			mutation: starting(func(d *event.ToolStart) { d.SubagentSpawn, d.SubagentName = false, "" }),
		},
		{
			Name: "flattens-sub-agents", Sentence: "tells what a sub-agent says and does as the parent's",
			Fails: []string{"subagent.attributed", "subagent.parallel", "subagent.text-apart", "text.once", "text.result", "tool.parallel", "turn.nothing-after-terminal", "turn.stall-ends"},
			Only:  map[string]string{"tool.parallel": "claude", "turn.stall-ends": "claude"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if e.Type() != event.TypeTask {
					e.SubagentID = ""
				}
				out(e)
			}),
		},
	}
}
