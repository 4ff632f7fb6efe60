package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var losesWhatWaited = broken.Adapter{
	Name: "loses-what-waited", Sentence: "does not report a message that joins the running turn",
	Proves: "turn.queued",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.UserMessage); ok && d.Via != event.ViaTurn {
			return
		}
		out(e)
	}),
}
