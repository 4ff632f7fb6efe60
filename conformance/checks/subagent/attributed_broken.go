package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var flattensSubAgents = broken.Adapter{
	Name: "flattens-sub-agents", Sentence: "reports text and tool calls of a sub-agent as the parent's",
	Fails: []string{"subagent.attributed", "subagent.parallel", "subagent.text-separate", "text.once", "text.result", "tool.parallel", "turn.nothing-after-terminal", "turn.stall-ends", "usage.stated"},
	Only:  map[string]string{"tool.parallel": "claude", "turn.stall-ends": "claude", "usage.stated": "codex"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeTask {
			e.SubagentID = ""
		}
		out(e)
	}),
}
