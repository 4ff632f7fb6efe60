// Package dialects is the registry of dialects. The comment of each package in
// adapters/backend/dialect/internal describes how events become the messages of a vocabulary.
package dialects

import (
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/agentui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/agui"
	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/uistream"
	"github.com/turnspec/turnspec/adapters/backend/dialect/internal/wsmessages"
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
	// ReadRequest reads the body of a request that is answered with the stream of a turn; nil if
	// clients of the dialect send none.
	ReadRequest func(body []byte) (Request, error)
	// Rejoin returns the Reply to a client that lost the stream of the turn that runs, and has
	// dropped what it received; nil if clients of the dialect do not ask for that.
	Rejoin func(answered func(id string) bool) Reply
	// NewChecker returns a strict checker of a stream.
	NewChecker func() Checker
	// Rules returns the names of the rules that the checker applies.
	Rules func() []string
	// LeftOut returns the types of events that have no form in the vocabulary, with the reasons.
	LeftOut func() map[event.Type]string
}

// Checker checks the messages of a stream, in order.
type Checker interface {
	Add(message []byte) []dialect.Problem
	End() []dialect.Problem
}

// Request is a request that is answered with the stream of a turn.
type Request struct {
	dialect.Request
	// NewReply returns its Reply. Message.ID is set before. Answered reports whether the permission request
	// or the question with an id was answered already.
	NewReply func(answered func(id string) bool) Reply
}

// Reply makes the stream of a turn from the events of its session: it ends with the turn, or when the
// turn waits for an answer.
type Reply struct {
	Skip      func(event.Event) // takes an event before the stream
	Begin     func() []Message  // returns what the stream begins with, if its turn began with skipped events
	Translate func(event.Event) []Message
}

// Message is a message of a dialect.
type Message struct {
	Line []byte // JSON, without a line end
	Ends bool   // it is the last one of its stream
}

var all = []Dialect{
	{
		Name:       "agentui",
		New:        func() func(event.Event) []Message { return encoded(new(agentui.Translator).Translate) },
		NewChecker: func() Checker { return new(agentui.Checker) }, Rules: agentui.Rules, LeftOut: agentui.LeftOut,
	},
	{
		Name: "agui", OneTurn: true, ReadRequest: readInput,
		New:        func() func(event.Event) []Message { return encoded(new(agui.Translator).Translate) },
		NewChecker: func() Checker { return new(agui.Checker) }, Rules: agui.Rules, LeftOut: agui.LeftOut,
	},
	uiDialect("uistream", false),
	uiDialect("uistream-approvals", true),
	{
		Name:       "wsmessages",
		New:        func() func(event.Event) []Message { return encoded(new(wsmessages.Translator).Translate) },
		NewChecker: func() Checker { return new(wsmessages.Checker) }, Rules: wsmessages.Rules, LeftOut: wsmessages.LeftOut,
	},
}

func uiDialect(name string, approvals bool) Dialect {
	d := Dialect{
		Name: name, AfterStream: uistream.EndOfStream, OneTurn: true, Headers: uistream.Headers(),
		NewChecker: func() Checker { return new(uistream.Checker) }, Rules: uistream.Rules, LeftOut: uistream.LeftOut,
		New: func() func(event.Event) []Message {
			return encoded((&uistream.Translator{Approvals: approvals}).Translate)
		},
	}
	if approvals {
		d.ReadRequest = readChat
		d.Rejoin = func(answered func(string) bool) Reply { return encodedReply(uistream.NewReply("", answered)) }
	}
	return d
}

func readChat(body []byte) (Request, error) {
	in, err := uistream.ReadRequest(body)
	return Request{in, func(answered func(string) bool) Reply {
		id := ""
		if in.Message != nil {
			id = in.Message.ID
		}
		return encodedReply(uistream.NewReply(id, answered))
	}}, err
}

func readInput(body []byte) (Request, error) {
	in, err := agui.ReadInput(body)
	if err != nil {
		return Request{}, err
	}
	return Request{in.Request, func(answered func(string) bool) Reply { return encodedReply(in.NewReply(answered)) }}, nil
}

// reply is the Reply of a dialect.
type reply[M any] interface {
	Skip(e event.Event)
	Begin() []M
	Translate(e event.Event) []M
}

func encodedReply[M interface{ Encode() []byte }](r reply[M]) Reply {
	begin := encoded(func(event.Event) []M { return r.Begin() })
	return Reply{r.Skip, func() []Message { return begin(event.Event{}) }, encoded(r.Translate)}
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
