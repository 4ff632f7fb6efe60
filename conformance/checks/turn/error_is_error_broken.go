package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var failsWell = broken.Adapter{
	Name: "fails-well", Sentence: "ends a turn that failed in done",
	Fails: []string{"turn.end-stated", "turn.error-is-error", "turn.lost-end", "turn.refused"},
	Only:  map[string]string{"turn.lost-end": "claude", "turn.refused": "codex"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Error); ok && d.Code != event.ErrorCrash && d.Code != event.ErrorTimeout {
			e.Data = event.Done{}
		}
		out(e)
	}),
}
