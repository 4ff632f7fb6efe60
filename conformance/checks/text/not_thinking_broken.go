package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var saysThoughts = broken.Adapter{
	Name: "emits-thinking-as-text", Sentence: "emits reasoning as text",
	Fails: []string{"text.block-end", "text.message-id", "text.not-thinking", "text.once", "thinking.blocks", "thinking.delivered", "turn.crash-ends", "turn.stall-ends"},
	Only:  map[string]string{"turn.stall-ends": "codex"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Thinking); ok && d.Text != "" {
			e.Data = event.Delta{Text: d.Text, MessageID: "thoughts", BlockID: "thoughts"}
		}
		out(e)
	}),
}
