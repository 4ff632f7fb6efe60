package wire

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var knowsEveryField = broken.Adapter{
	Name: "knows-every-field", Sentence: "decodes strictly and drops messages with an unknown member",
	Proves: "wire.unknown",
	Mutation: broken.Mutation{Read: func(chunk []byte) []byte {
		if bytes.Contains(chunk, []byte(`"weather":"fair"`)) {
			return []byte("\n")
		}
		return chunk
	}},
}

var diesOfTheUnknown = broken.Adapter{
	Name: "dies-of-the-unknown", Sentence: "ends the turn at a message that it does not know",
	Proves: "wire.unknown",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeUnknownMessage {
			e.Data = event.Error{Code: event.ErrorProtocol, Message: "unknown message"}
		}
		out(e)
	}),
}

var noticesWithoutTheMessage = broken.Adapter{
	Name: "notices-without-the-message", Sentence: "reports an unknown message without its content",
	Proves:   "wire.unknown",
	Mutation: broken.Change(func(d *event.Notice) { d.Raw = nil }),
}
