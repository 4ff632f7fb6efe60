package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithTheChild = broken.Adapter{
	Name: "ends-with-the-child", Sentence: "takes the end of a sub-agent for the end of the turn",
	Proves: "turn.child-end-is-not-parent-end",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if d, ok := e.Data.(event.Task); ok && d.Kind == event.TaskSubagent && d.Status != event.TaskRunning && e.Turn > 0 {
			e.Data, e.SubagentID = event.Done{}, ""
			out(e)
		}
	}),
}
