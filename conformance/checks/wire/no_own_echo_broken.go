package wire

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var hearsItsOwnEcho = broken.Adapter{
	Name: "reports-repeated-messages", Sentence: "reports a message twice if the runtime repeats it",
	Proves: "wire.no-own-echo",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeUserMessage {
			out(e)
		}
	}),
}
