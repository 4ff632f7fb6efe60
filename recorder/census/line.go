// Package census counts what the lines of cases hold: each kind of message, each member
// of it with its types, and the values of members that hold one of a few words. It is not
// part of the stable interface. It needs no schema. The censuses of two versions, taken
// from the same scenarios, show what has changed.
package census

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Message is a line of the wire with its name.
type Message struct {
	Line int // index into the case's wire
	In   bool
	Kind string // turn/started, item/started(plan), answer to thread/start, system/init …
	Item string // the id of the item or tool call that it is about
	// Request is what the reply to it is named after, if it is a request.
	Request string
	Value   jsontext.Value
}

// Messages returns the lines of a case that are JSON objects and have a name.
func Messages(c *fixtures.Case) []Message {
	methods := map[string]string{} // of requests, by requestKey
	var out []Message
	for i, l := range c.Lines() {
		w := c.Wire[i]
		if len(w.Bytes) == 0 || w.Bytes[0] != '{' || w.Dir != fixtures.In && w.Dir != fixtures.Out {
			continue
		}
		in := w.Dir == fixtures.In
		m := Message{Line: i, In: in, Kind: l.Name, Item: l.Item, Value: w.Bytes}
		switch {
		case l.Kind == wire.Reply || l.Kind == wire.Answer:
			m.Kind = "answer to "
			if l.Failed {
				m.Kind = "error to "
			}
			m.Kind += methods[requestKey(w.Process, !in, l.RepliesTo)]
		case len(l.ID) > 0:
			methods[requestKey(w.Process, in, l.ID)], m.Request = l.Method, l.Method
		}
		if m.Kind != "" {
			out = append(out, m)
		}
	}
	return out
}

// requestKey identifies a request: each side of each process counts its own.
func requestKey(process int, in bool, id jsontext.Value) string {
	return strconv.Itoa(process) + direction(in) + string(id)
}

func direction(in bool) string {
	if in {
		return "in "
	}
	return "out "
}
