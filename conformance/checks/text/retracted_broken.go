package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsAbandonedText = broken.Adapter{
	Name: "keeps-abandoned-text", Sentence: "keeps text that the runtime abandoned and repeated",
	Proves: "text.retracted",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockRetracted {
			d.Status = event.BlockComplete
			e.Data = d
		}
		out(e)
	}),
}
