package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var noThinking = broken.Adapter{
	Name: "no-thinking", Sentence: "listens for a method that no runtime sends and drops the thinking",
	Proves: "thinking.blocks",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Thinking); !ok || d.Text == "" {
			out(e)
		}
	}),
}

var thinksTwice = broken.Adapter{
	Name: "thinks-twice", Sentence: "repeats the reasoning when it is complete",
	Proves: "thinking.delivered",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		whole := ""
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Thinking); ok && d.Done {
				d.Text, whole = whole, ""
				e.Data = d
			} else if ok {
				whole += d.Text
			}
			out(e)
		}
	}},
}
