package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var saysItTwiceForSubAgents = broken.Adapter{
	Name: "doubles-sub-agent-text", Sentence: "emits the text of a sub-agent twice",
	Proves: "subagent.parallel",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() == event.TypeDelta && e.SubagentID != "" {
			out(e)
		}
		out(e)
	}),
}
