package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithoutItsBlock = broken.Adapter{
	Name: "ends-without-its-block", Sentence: "closes reasoning without its block",
	Proves: "turn.stall-ends",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Thinking); ok && d.Done {
			d.BlockID = ""
			e.Data = d
		}
		out(e)
	}),
}
