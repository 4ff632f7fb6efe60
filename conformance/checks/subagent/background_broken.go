package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var mixesSubAgents = broken.Adapter{
	Name: "mixes-sub-agents", Sentence: "reports the text of every sub-agent under the id of the first",
	Proves:  "subagent.background",
	Runtime: "codex", Why: "Claude Code reports their text whole, so there it also leaves them open at a crash",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		first := ""
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Delta); ok && e.SubagentID != "" {
				if first == "" {
					first = e.SubagentID
				}
				e.SubagentID, e.Data = first, d
			}
			out(e)
		}
	}},
}

var forgetsSubAgents = broken.Adapter{
	Name: "forgets-sub-agents", Sentence: "does not report the end of a sub-agent",
	Proves: "subagent.background",
	Mutation: broken.Change(func(d *event.Task) {
		if d.Kind == event.TaskSubagent && d.Status != event.TaskRunning {
			d.Status = event.TaskRunning
		}
	}),
}
