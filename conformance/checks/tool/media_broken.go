package tool

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var forgetsThePictures = broken.Adapter{
	Name: "forgets-the-pictures", Sentence: "reports no media of results",
	Proves:   "tool.media",
	Mutation: broken.Change(func(d *event.ToolResult) { d.Media = nil }),
}

var countsTheDigits = broken.Adapter{
	Name: "counts-the-digits", Sentence: "gives the length of an image in base64 as its size",
	Proves: "tool.media",
	Mutation: broken.Change(func(d *event.ToolResult) {
		d.Media = slices.Clone(d.Media)
		for i := range d.Media {
			d.Media[i].Size = (d.Media[i].Size + 2) / 3 * 4
		}
	}),
}
