package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsTwice = broken.Adapter{
	Name: "ends-twice", Sentence: "emits done twice",
	Proves: "turn.one-terminal",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeDone {
			out(e)
		}
	}),
}

var losesTheEnd = broken.Adapter{
	Name: "loses-the-end", Sentence: "does not report the end of a successful turn",
	Proves: "turn.one-terminal",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); !ok || d.Stopped {
			out(e)
		}
	}),
}
