package replay

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var reusesItsBuffer = broken.Adapter{
	Name: "reuses-its-buffer", Sentence: "hands out the buffer of a line and reads the next one into it",
	Proves: "replay.equals-live",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var last event.Raw
		return func(e event.Event, out func(event.Event)) {
			out(e) // when the listener has taken it, it no longer needs the one before
			if d, ok := e.Data.(event.ToolStart); ok {
				last = d.Input
			} else if e.Type() == event.TypeToolResult && len(last) > 0 {
				n := copy(last, `{"overwritten":""}`) // still JSON, with spaces behind
				copy(last[n:], bytes.Repeat([]byte(" "), len(last)))
			}
		}
	}},
}
