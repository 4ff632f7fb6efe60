package replay

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var stopLooksFinished = broken.Adapter{
	Name: "stop-looks-finished", Sentence: "ends a stopped turn like a finished one",
	Proves: "replay.interrupted",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok {
			d.Stopped = false
			e.Data = d
		}
		out(e)
	}),
}
