package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var showsTheResultToo = broken.Adapter{
	Name: "shows-the-result-too", Sentence: "shows the final text after it was streamed",
	Proves: "text.once",
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		message := ""
		return func(e event.Event, out func(event.Event)) {
			out(e)
			switch d := e.Data.(type) {
			case event.Delta:
				message = d.MessageID
			case event.Result:
				e.Data = event.Delta{Text: d.Text, MessageID: message, BlockID: "result"}
				out(e)
				e.Data = event.BlockEnd{BlockID: "result", Status: event.BlockComplete}
				out(e)
			}
		}
	}},
}
