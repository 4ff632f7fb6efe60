package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var swapsDeltas = broken.Adapter{
	Name: "swaps-deltas", Sentence: "emits two deltas in the wrong order",
	Proves: "text.order",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var kept []event.Event
		return func(e event.Event, out func(event.Event)) {
			if e.Type() == event.TypeDelta && len(kept) == 0 {
				kept = append(kept, e)
				return
			}
			out(e)
			for _, k := range kept {
				out(k)
			}
			kept = nil
		}
	}},
}
