package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var thinksBlank = broken.Adapter{
	Name: "thinks-blank", Sentence: "emits a block of reasoning without words",
	Proves: "thinking.hidden",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if d, ok := e.Data.(event.Thinking); ok && d.Text == "" && !d.Done {
			e.Data = event.Thinking{Text: "\n", BlockID: "blank"}
			out(e)
			e.Data = event.Thinking{Done: true, BlockID: "blank"}
			out(e)
		}
	}),
}
