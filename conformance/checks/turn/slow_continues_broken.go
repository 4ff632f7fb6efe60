package turn

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var takesThoughtForDeath = broken.Adapter{
	Name: "takes-thought-for-death", Sentence: "ends a turn after three minutes without output",
	Proves: "turn.slow-continues",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var last event.Event
		dead := 0
		return func(e event.Event, out func(event.Event)) {
			if last.Turn > 0 && e.Turn == last.Turn && e.Turn != dead && e.TS.Sub(last.TS) > 3*time.Minute {
				dead = e.Turn
				out(event.Event{Data: event.Error{Code: event.ErrorTimeout, Message: "silence"}, TS: e.TS, SessionID: e.SessionID, Turn: e.Turn})
			}
			if last = e; e.Turn == 0 || e.Turn != dead {
				out(e)
			}
		}
	}},
}

var givesUpATool = broken.Adapter{
	Name: "gives-up-a-tool", Sentence: "reports a tool as interrupted that ran for more than three minutes",
	Proves: "turn.slow-continues",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		began := map[string]time.Time{}
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.ToolStart:
				began[d.ToolUseID] = e.TS
			case event.ToolResult:
				if e.TS.Sub(began[d.ToolUseID]) > 3*time.Minute {
					d.Status, d.IsError = event.ToolInterrupted, true
					e.Data = d
				}
			}
			out(e)
		}
	}},
}
