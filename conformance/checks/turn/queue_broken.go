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

var listsOnlyTheFirst = broken.Adapter{
	Name: "lists-only-the-first", Sentence: "does not report that a second message waits",
	Proves: "turn.queue",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Queue); !ok || len(d.MessageIDs) < 2 {
			out(e)
		}
	}),
}
