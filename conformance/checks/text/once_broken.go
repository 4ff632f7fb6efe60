package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var showsTheResultToo = broken.Adapter{
	Name: "shows-the-result-too", Sentence: "shows the final text after it was streamed",
	Fails: []string{"text.block-boundary", "text.block-end", "text.message-id", "text.once", "text.result"},
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		out(e)
		if d, ok := e.Data.(event.Result); ok && d.Text != "" {
			e.Data = event.Delta{Text: d.Text, MessageID: "result", BlockID: "result"}
			out(e)
		}
	}),
}
