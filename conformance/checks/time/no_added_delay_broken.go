package time

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var coalesces = broken.Adapter{
	Name: "coalesces", Sentence: "joins two deltas into one event",
	Proves: "time.no-added-delay",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var kept *event.Event
		return func(e event.Event, out func(event.Event)) {
			d, is := e.Data.(event.Delta)
			switch {
			case is && kept == nil:
				kept = &e
				return
			case is && kept.Data.(event.Delta).BlockID == d.BlockID:
				e.Data = event.Delta{Text: kept.Data.(event.Delta).Text + d.Text, MessageID: d.MessageID, BlockID: d.BlockID}
			case kept != nil:
				out(*kept)
			}
			kept = nil
			out(e)
		}
	}},
}

var delaysTools = broken.Adapter{
	Name: "delays-tools", Sentence: "holds a tool event until the next event",
	Proves: "time.no-added-delay",
	Mutation: holding(func(e event.Event) bool {
		return e.Type() == event.TypeToolStart || e.Type() == event.TypeToolResult
	}),
}

var delaysThinking = broken.Adapter{
	Name: "delays-thinking", Sentence: "holds a piece of thinking until the next event",
	Proves: "time.no-added-delay",
	Mutation: holding(func(e event.Event) bool {
		d, ok := e.Data.(event.Thinking)
		return ok && d.Text != ""
	}),
}

var endsLate = broken.Adapter{
	Name: "ends-late", Sentence: "holds the end of a turn until the next event",
	Proves:   "time.no-added-delay",
	Mutation: holding(event.Event.Terminal),
}
