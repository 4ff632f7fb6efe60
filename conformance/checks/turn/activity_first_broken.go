package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var looksDead = broken.Adapter{
	Name: "looks-dead", Sentence: "emits no activity at the start of a turn",
	Proves: "turn.activity-first",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Thinking); !ok || d.Text != "" || d.Done {
			out(e)
		}
	}),
}
