package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var keepsAbandonedText = broken.Adapter{
	Name: "keeps-abandoned-text", Sentence: "keeps text that the runtime abandoned and repeated",
	Proves: "text.retracted",
	Mutation: broken.Change(func(d *event.BlockEnd) {
		if d.Status == event.BlockRetracted {
			d.Status = event.BlockComplete
		}
	}),
}
