package broken

import (
	"strconv"

	"github.com/turnspec/turnspec/adapters/event"
)

// contents are broken in what their events hold.
func contents() []Adapter {
	return []Adapter{
		{
			Name: "stopped-tools-fail", Sentence: "tells a tool that was stopped as failed",
			Fails: []string{"turn.crash-ends", "turn.stall-ends", "turn.stop"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolResult); ok && (d.Status == event.ToolInterrupted || d.Status == event.ToolBackgrounded) {
					d.Status, d.IsError = event.ToolError, true
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "invents-a-tool", Sentence: "tells a step of its own as a tool call",
			Fails: []string{"tool.known", "turn.activity-first", "turn.stall-ends"},
			Only:  map[string]string{"turn.stall-ends": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if step := "step-" + strconv.Itoa(e.Turn); e.Type() == event.TypeTurnStart {
					e.Data = event.ToolStart{ToolUseID: step, Tool: "Plan", Input: event.Raw("{}")}
					out(e)
					e.Data = event.ToolResult{ToolUseID: step, Status: event.ToolOK}
					out(e)
				}
			}),
		},
		{
			Name: "forgets-the-input", Sentence: "tells a tool by its name and path alone",
			Fails: []string{"component.tool-linked", "tool.known"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolStart); ok {
					d.Input = event.Raw("{}")
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "cuts-output", Sentence: "keeps the first letters of a tool's output",
			Fails: []string{"component.tool-linked", "tool.output", "tool.streamed", "tool.web-search"},
			Only:  map[string]string{"tool.streamed": "codex", "tool.web-search": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolResult); ok {
					d.Output = d.Output[:min(3, len(d.Output))]
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "streams-snapshots", Sentence: "streams all of a tool's output so far, again and again",
			Fails: []string{"tool.streamed"}, Runtime: "codex", Why: "claude tells a command's output when it has ended",
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
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
		},
		{
			Name: "errors-that-are-none", Sentence: "marks no result as an error",
			Fails: []string{"component.tool-linked", "tool.output"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.ToolResult); ok {
					d.IsError = d.Status == event.ToolOK
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "asks-about-nothing-known", Sentence: "asks for permission with neither the call nor its input",
			Fails: []string{"permission.asked"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.PermissionRequest); ok {
					d.ToolUseID, d.ToolInput = "", event.Raw(`{"tool":"a command"}`)
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "notices-without-the-message", Sentence: "says that there was an unknown message, and not which",
			Fails: []string{"permission.unsupported-request", "wire.unknown"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Notice); ok {
					d.Raw = nil
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "thinks-twice", Sentence: "tells the reasoning again when it is whole",
			Fails: []string{"thinking.delivered", "turn.crash-ends", "turn.stall-ends"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				whole := ""
				return func(e event.Event, out func(event.Event)) {
					if d, ok := e.Data.(event.Thinking); ok && d.Done {
						d.Text, whole = whole, ""
						e.Data = d
					} else if ok {
						whole += d.Text
					}
					out(e)
				}
			}},
		},
		{
			Name: "begins-with-a-break", Sentence: "puts an empty line before each block of text",
			Fails: []string{"subagent.parallel", "text.once", "text.paragraph-break", "turn.after-stop"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				seen := map[string]bool{}
				return func(e event.Event, out func(event.Event)) {
					if d, ok := e.Data.(event.Delta); ok && !seen[d.BlockID] {
						seen[d.BlockID] = true
						d.Text = "\n\n" + d.Text
						e.Data = d
					}
					out(e)
				}
			}},
		},
		{
			Name: "all-text-is-the-first-turns", Sentence: "tells the text of later turns as that of the first",
			Fails: []string{"text.once", "text.result", "turn.after-stop", "turn.nothing-after-terminal"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if e.Type() == event.TypeDelta {
					e.Turn = 1
				}
				out(e)
			}),
		},
	}
}
