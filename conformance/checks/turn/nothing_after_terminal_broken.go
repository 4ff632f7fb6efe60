package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var usageAfterTheEnd = broken.Adapter{
	Name: "usage-after-the-end", Sentence: "reports the usage of a turn after its end",
	Proves: "turn.nothing-after-terminal",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if e.Type() == event.TypeDone {
			e.Data = event.Usage{Tokens: event.Tokens{Input: 1}}
			out(e)
		}
	}),
}
