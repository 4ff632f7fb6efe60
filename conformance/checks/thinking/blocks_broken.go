package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithoutItsBlock = broken.Adapter{
	Name: "ends-without-its-block", Sentence: "closes reasoning without its block",
	Proves: "turn.stall-ends",
	Mutation: broken.Change(func(d *event.Thinking) {
		if d.Done {
			d.BlockID = ""
		}
	}),
}
