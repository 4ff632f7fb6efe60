package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithTheWords = broken.Adapter{
	Name: "ends-with-the-words", Sentence: "takes the end of a text block for the end of the turn",
	Proves: "turn.not-before-end",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		ended := 0
		return func(e event.Event, out func(event.Event)) {
			if e.Turn > 0 && e.Turn == ended && e.SubagentID == "" {
				return
			}
			out(e)
			if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockComplete && e.SubagentID == "" {
				ended = e.Turn
				e.Data = event.Done{}
				out(e)
			}
		}
	}},
}
