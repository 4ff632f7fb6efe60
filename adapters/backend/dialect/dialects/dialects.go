// Package dialects is the registry of dialects.
package dialects

import (
	"github.com/turnspec/turnspec/adapters/backend/dialect/agentui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/agui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/uistream"
	"github.com/turnspec/turnspec/adapters/backend/dialect/wsmessages"
	"github.com/turnspec/turnspec/adapters/event"
)

// Dialect is a vocabulary of a front end.
type Dialect struct {
	Name string
	// New returns a function that translates the events of a session, in order.
	New func() func(event.Event) []Message
	// AfterStream is the data of a server-sent event after the last message of a stream; "" if
	// there is none.
	AfterStream string
	// OneTurn says that readers expect an answer over HTTP to end with its turn.
	OneTurn bool
	// Headers are the HTTP headers of an answer, besides those of any with server-sent events.
	Headers map[string]string
}

// Message is a message of a dialect.
type Message struct {
	Line []byte // JSON, without a line end
	Ends bool   // it is the last one of its stream
}

var all = []Dialect{
	{Name: "agentui", New: func() func(event.Event) []Message { return encoded(new(agentui.Translator).Translate) }},
	{Name: "agui", New: func() func(event.Event) []Message { return encoded(new(agui.Translator).Translate) }, OneTurn: true},
	uiDialect("uistream", false),
	uiDialect("uistream-approvals", true),
	{Name: "wsmessages", New: func() func(event.Event) []Message { return encoded(new(wsmessages.Translator).Translate) }},
}

func uiDialect(name string, approvals bool) Dialect {
	return Dialect{
		Name: name, AfterStream: uistream.EndOfStream, OneTurn: true, Headers: uistream.Headers(),
		New: func() func(event.Event) []Message {
			return encoded((&uistream.Translator{Approvals: approvals}).Translate)
		},
	}
}

// encoded returns a function that translates an event and encodes the messages.
func encoded[M interface{ Encode() []byte }](translate func(event.Event) []M) func(event.Event) []Message {
	return func(e event.Event) (out []Message) {
		for _, m := range translate(e) {
			stream, ok := any(m).(interface{ Ends() bool })
			out = append(out, Message{m.Encode(), ok && stream.Ends()})
		}
		return out
	}
}

// Names lists the dialects.
func Names() []string {
	out := make([]string, len(all))
	for i, d := range all {
		out[i] = d.Name
	}
	return out
}

// Of returns a dialect by its name.
func Of(name string) (Dialect, bool) {
	for _, d := range all {
		if d.Name == name {
			return d, true
		}
	}
	return Dialect{}, false
}
