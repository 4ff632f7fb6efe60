package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var failsWell = broken.Adapter{
	Name: "fails-well", Sentence: "ends a turn that failed in done",
	Proves: "turn.error-is-error",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Error); ok && d.Code != event.ErrorCrash && d.Code != event.ErrorTimeout {
			e.Data = event.Done{}
		}
		out(e)
	}),
}
