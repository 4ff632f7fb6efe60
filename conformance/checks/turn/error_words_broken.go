package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var hidesTheReason = broken.Adapter{
	Name: "hides-the-reason", Sentence: "replaces the message of an error with other words",
	Proves: "turn.error-words",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Error); ok && e.Turn > 0 {
			d.Message = "something went wrong"
			e.Data = d
		}
		out(e)
	}),
}

var blamesTheNetwork = broken.Adapter{
	Name: "blames-the-network", Sentence: "reports a request that the model's API refused as a failure of the network",
	Proves: "turn.error-words",
	Mutation: broken.Change(func(d *event.Error) {
		if d.Code == event.ErrorInvalid {
			d.Code = event.ErrorNetwork
		}
	}),
}
