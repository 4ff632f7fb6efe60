package text

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var sumsUp = broken.Adapter{
	Name: "sums-up", Sentence: "emits a result that is not the text",
	Proves: "text.result",
	Mutation: broken.Change(func(d *event.Result) {
		if d.Text != "" {
			d.Text = "The turn went well: " + strings.ToUpper(d.Text)
		}
	}),
}
