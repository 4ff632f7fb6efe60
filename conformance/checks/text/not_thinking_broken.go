package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var saysThoughts = broken.Adapter{
	Name: "emits-thinking-as-text", Sentence: "emits reasoning as text",
	Proves: "text.not-thinking",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Thinking); ok && d.Text != "" {
			e.Data = event.Delta{Text: d.Text, MessageID: "thoughts", BlockID: "thoughts"}
		}
		out(e)
	}),
}
