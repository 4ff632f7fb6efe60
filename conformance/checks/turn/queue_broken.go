package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var hidesTheQueue = broken.Adapter{
	Name: "hides-the-queue", Sentence: "does not report that messages wait",
	Proves: "turn.queue",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Type() != event.TypeQueue {
			out(e)
		}
	}),
}
