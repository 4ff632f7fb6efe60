package replay

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var beginsWithABreak = broken.Adapter{
	Name: "begins-with-a-break", Sentence: "puts an empty line before each block of text",
	Proves: "text.paragraph-break",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		seen := map[string]bool{}
		return func(e event.Event, out func(event.Event)) {
			if d, ok := e.Data.(event.Delta); ok && !seen[d.BlockID] {
				seen[d.BlockID] = true
				d.Text = "\n\n" + d.Text
				e.Data = d
			}
			out(e)
		}
	}},
}
