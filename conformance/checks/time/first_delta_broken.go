package time

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var smooths = broken.Adapter{
	Name: "smooths", Sentence: "delays each delta by 5 ms, to look smoother",
	// While it sleeps, events wait in the session from before the listener paused.
	Proves: "time.first-delta",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() == event.TypeDelta {
			time.Sleep(5 * time.Millisecond)
		}
		out(e)
	}),
}

var holdsTheFirstDelta = broken.Adapter{
	Name: "holds-the-first-delta", Sentence: "holds the first delta of a turn until the next event",
	Proves: "time.first-delta",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		turn := 0
		return holding(func(e event.Event) bool {
			first := e.Type() == event.TypeDelta && e.Turn != turn
			if first {
				turn = e.Turn
			}
			return first
		}).Events()
	}},
}
