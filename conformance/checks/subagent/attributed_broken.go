package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var flattensSubAgents = broken.Adapter{
	Name: "flattens-sub-agents", Sentence: "reports text and tool calls of a sub-agent as the parent's",
	Proves: "subagent.attributed",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeTask {
			e.SubagentID = ""
		}
		out(e)
	}),
}
