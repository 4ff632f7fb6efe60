package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var waitsForEver = broken.Adapter{
	Name: "waits-for-ever", Sentence: "waits forever for a runtime that stopped writing",
	Fails: []string{"turn.refused", "turn.stall-ends"},
	Only:  map[string]string{"turn.refused": "claude"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Error); !ok || d.Code != event.ErrorTimeout {
			out(e)
		}
	}),
}
