package broken_test

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// takesTheExitForSuccess looks at the exit code alone, which OpenCode 1.15 leaves 0 after an
// error.
var takesTheExitForSuccess = broken.Adapter{
	Name: "takes-the-exit-for-success", Sentence: "ends a turn without an error if the process exits, whatever its lines said",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Error); ok && d.Code != event.ErrorCrash && d.Code != event.ErrorTimeout {
			e.Data = event.Done{}
		}
		out(e)
	}),
}

// endsWithTheFirstStep takes the end of a step for that of the turn.
var endsWithTheFirstStep = broken.Adapter{
	Name: "ends-with-the-first-step", Sentence: "ends the turn when the model's first reply and its calls have ended",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		ended := 0
		return func(e event.Event, out func(event.Event)) {
			if e.Turn != 0 && e.Turn == ended {
				return
			}
			out(e)
			if _, ok := e.Data.(event.Usage); ok {
				ended, e.Data = e.Turn, event.Done{}
				out(e)
			}
		}
	}},
}
