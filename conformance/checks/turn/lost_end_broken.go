package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var takesALostEndForAGoodOne = broken.Adapter{
	Name: "takes-a-lost-end-for-a-good-one", Sentence: "ends a turn in done although the runtime never ended it",
	Proves: "turn.lost-end",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		err, failed := e.Data.(event.Error)
		if done, is := e.Data.(event.Done); failed && err.Code == event.ErrorProtocol && e.Turn > 0 || is && done.Reason == "superseded" {
			e.Data = event.Done{}
		}
		out(e)
	}),
}
