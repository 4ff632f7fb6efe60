package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var waitsForEver = broken.Adapter{
	Name: "waits-for-ever", Sentence: "waits forever for a runtime that stopped writing",
	Proves: "turn.refused",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Error); !ok || d.Code != event.ErrorTimeout {
			out(e)
		}
	}),
}
