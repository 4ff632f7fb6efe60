package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var speaksForTheUser = broken.Adapter{
	Name: "speaks-for-the-user", Sentence: "reports a stop as a message of the user",
	Proves: "turn.user-messages",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Done); ok && d.Stopped {
			out(event.Event{Data: event.UserMessage{MessageID: "stop", Text: "[Request interrupted by user]", Via: event.ViaMerge}, Turn: e.Turn, TS: e.TS, SessionID: e.SessionID})
		}
		out(e)
	}),
}

var losesTheAttachments = broken.Adapter{
	Name: "loses-the-attachments", Sentence: "reports a message without its attachments",
	Proves:   "turn.user-messages",
	Mutation: broken.Change(func(d *event.UserMessage) { d.Attachments = nil }),
}

var showsAnotherFile = broken.Adapter{
	Name: "shows-another-file", Sentence: "names the folder of another session in the path of an attachment",
	Proves: "turn.user-messages",
	Mutation: broken.Change(func(d *event.UserMessage) {
		d.Attachments = slices.Clone(d.Attachments)
		for i := range d.Attachments {
			if d.Attachments[i].Path != "" {
				d.Attachments[i].Path = "/elsewhere/" + d.Attachments[i].Name
			}
		}
	}),
}
