package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// onlyClaude is why Codex does not show these defects.
const onlyClaude = "Codex does not stream the inputs of tools"

var keepsPiecesBack = broken.Adapter{
	Name: "keeps-pieces-back", Sentence: "emits the pieces of a tool's input when the call starts",
	Proves: "tool.input-streamed", Runtime: "claude", Why: onlyClaude,
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var kept []event.Event
		return func(e event.Event, out func(event.Event)) {
			if kept = append(kept, e); e.Type() == event.TypeToolInput && !e.Data.(event.ToolInput).Dropped {
				return
			}
			for _, k := range kept {
				k.TS = e.TS
				out(k)
			}
			kept = nil
		}
	}},
}

var piecesForEverybody = broken.Adapter{
	Name: "pieces-for-everybody", Sentence: "emits the inputs of tools in pieces to clients that did not ask for them",
	Proves: "tool.input-whole", Runtime: "claude", Why: onlyClaude,
	Mutation: broken.Opening(func(o *conformance.Open) { o.StreamToolInput = true }),
}

var namesNoInput = broken.Adapter{
	Name: "names-no-input", Sentence: "names the tool only when its input is whole",
	Proves: "tool.input-whole", Runtime: "claude", Why: onlyClaude,
	Mutation: broken.Change(func(d *event.ToolInput) { d.Tool = "" }),
}

var joinsTheInputs = broken.Adapter{
	Name: "joins-the-inputs", Sentence: "gives all pieces of inputs to the call that began first",
	Proves: "tool.input-whole", Runtime: "claude", Why: onlyClaude,
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var open []string
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.ToolInput); ok {
				if d.Tool != "" {
					open = append(open, d.ToolUseID)
				}
				if d.Text != "" && len(open) > 0 {
					d.ToolUseID = open[0]
				}
				e.Data = d
			}
			out(e)
		}
	}},
}
