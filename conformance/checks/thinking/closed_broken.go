package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var thinksForEver = broken.Adapter{
	Name: "thinks-for-ever", Sentence: "does not report the end of reasoning",
	Proves: "thinking.closed",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Thinking); !ok || !d.Done || d.Text != "" {
			out(e)
		}
	}),
}
