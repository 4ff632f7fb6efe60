package order

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var runsItsClockBack = broken.Adapter{
	Name: "runs-its-clock-back", Sentence: "takes ts from a clock that is set back",
	Proves: "order.ts",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		back := time.Duration(0)
		return func(e event.Event, out func(event.Event)) {
			back += time.Minute
			e.TS = e.TS.Add(-back)
			out(e)
		}
	}},
}
