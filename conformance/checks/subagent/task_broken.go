package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsTheCall = broken.Adapter{
	Name: "forgets-the-call-of-a-task", Sentence: "gives a task the id of another call",
	Proves: "subagent.task",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Task); ok {
			d.ToolUseID = "call-of-" + d.TaskID
			e.Data = d
		}
		out(e)
	}),
}
