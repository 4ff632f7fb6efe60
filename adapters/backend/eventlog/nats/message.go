package nats

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// Headers of a message of a session. Its data are the JSON of events, a line each, or a
// part of the JSON of one event.
const (
	headerFirst = "Turnspec-First" // seq of the first event
	headerLast  = "Turnspec-Last"  // seq of the last event after this message
	headerInfo  = "Turnspec-Info"  // the eventlog.Info after this message; none if the session has no event yet
	headerPart  = "Turnspec-Part"  // 1, 2, … of an event in parts
	headerParts = "Turnspec-Parts" // their number
	headerStart = "Turnspec-Start" // stream sequence of part 1, in the others
)

// tokenOf returns a text as a token of a subject, which may hold few characters only.
func tokenOf(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// state is the state of a session after a message.
type state struct {
	sequence uint64 // of the message in the stream, 0 if there is none
	info     eventlog.Info
}

// stateOf returns the state after a message.
func stateOf(sequence uint64, h nats.Header) (state, error) {
	s := state{sequence: sequence}
	if text := h.Get(headerInfo); text != "" {
		if err := json.Unmarshal([]byte(text), &s.info); err != nil {
			return s, fmt.Errorf("%w: info of a session: %w", eventlog.ErrCorrupt, err)
		}
	}
	return s, nil
}

// newMessage returns a message after which the session has an info.
func newMessage(subject string, first int64, i eventlog.Info, data []byte) (*nats.Msg, error) {
	m := &nats.Msg{Subject: subject, Header: nats.Header{}, Data: data}
	m.Header.Set(headerFirst, strconv.FormatInt(first, 10))
	m.Header.Set(headerLast, strconv.FormatInt(i.Last.Seq, 10))
	if i.Last.Seq > 0 {
		b, err := json.Marshal(i)
		if err != nil {
			return nil, err
		}
		m.Header.Set(headerInfo, string(b))
	}
	return m, nil
}

// numberIn returns the number in a header, 0 if there is none.
func numberIn(h nats.Header, name string) int64 {
	n, _ := strconv.ParseInt(h.Get(name), 10, 64)
	return n
}
