package turn

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
	"github.com/turnspec/turnspec/conformance/perform"
)

var hidesACrash = broken.Adapter{
	Name: "hides-a-crash", Sentence: "ends the turn as stopped if the runtime exits",
	Proves: "turn.crash-ends",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Error); ok && d.Code == event.ErrorCrash {
			e.Data = event.Done{Stopped: true}
		}
		out(e)
	}),
}

// isCrash reports whether an event reports that the runtime exited.
func isCrash(e event.Event) bool {
	d, ok := e.Data.(event.Error)
	return ok && d.Code == event.ErrorCrash
}

var finishesAtACrash = broken.Adapter{
	Name: "finishes-at-a-crash", Sentence: "ends the turn in done if the runtime exits",
	Proves: "turn.crash-ends",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if isCrash(e) {
			e.Data = event.Done{}
		}
		out(e)
	}),
}

var crashWithoutItsCode = broken.Adapter{
	Name: "crash-without-its-code", Sentence: "reports each exit of the runtime with code unknown",
	Proves: "turn.crash-ends",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if isCrash(e) {
			e.Data = event.Error{Code: event.ErrorUnknown, Message: "something went wrong"}
		}
		out(e)
	}),
}

var takesTextBackAtACrash = broken.Adapter{
	Name: "takes-text-back-at-a-crash", Sentence: "retracts the last text if the runtime exits",
	Proves: "turn.crash-ends",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		block := ""
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Delta); ok {
				block = d.BlockID
			}
			if isCrash(e) {
				out(event.Event{Data: event.BlockEnd{BlockID: block, Status: event.BlockRetracted}, TS: e.TS, SessionID: e.SessionID, Turn: e.Turn})
			}
			out(e)
		}
	}},
}

var tellsACrashLate = broken.Adapter{
	Name: "reports-a-crash-late", Sentence: "reports the exit of the runtime late",
	Proves: "turn.crash-ends",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if isCrash(e) {
			time.Sleep(perform.EndLimit + time.Second)
		}
		out(e)
	}),
}

var leavesTextOpenAtACrash = broken.Adapter{
	Name: "leaves-text-open-at-a-crash", Sentence: "does not close the open text block if the runtime exits",
	Proves: "turn.crash-ends",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.BlockEnd); !ok || d.Status != event.BlockInterrupted {
			out(e)
		}
	}),
}
