package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var allTextIsTheFirstTurns = broken.Adapter{
	Name: "all-text-is-the-first-turns", Sentence: "reports the text of later turns as that of the first",
	Proves: "turn.after-stop",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() == event.TypeDelta {
			e.Turn = 1
		}
		out(e)
	}),
}

var staysStopped = broken.Adapter{
	Name: "stays-stopped", Sentence: "reports the turn after a stopped one as stopped too",
	Proves: "turn.after-stop",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		stopped := false
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Done); ok {
				stopped = stopped || d.Stopped
				d.Stopped = stopped
				e.Data = d
			}
			out(e)
		}
	}},
}
