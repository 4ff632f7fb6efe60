package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithoutItsBlock = broken.Adapter{
	Name: "ends-without-its-block", Sentence: "closes reasoning without its block",
	Fails: []string{"turn.crash-ends", "turn.stall-ends"},
	Only:  map[string]string{"turn.stall-ends": "codex"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Thinking); ok && d.Done {
			d.BlockID = ""
			e.Data = d
		}
		out(e)
	}),
}
