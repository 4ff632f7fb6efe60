package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var oneBlockForAll = broken.Adapter{
	Name: "one-block-for-all", Sentence: "joins the text before and after a tool call into one block",
	Fails: []string{"text.block-boundary", "text.block-end", "text.message-id", "text.once", "text.paragraph-break", "text.result", "turn.crash-ends", "turn.stall-ends"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		switch d := e.Data.(type) {
		case event.Delta:
			d.BlockID = "text"
			e.Data = d
		case event.BlockEnd:
			if d.Status == event.BlockComplete {
				return
			}
		}
		out(e)
	}),
}
