package acpagent

import (
	"cmp"
	"encoding/json"
	"fmt"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/turnspec/turnspec/adapters/event"
)

// Message is a message of JSON-RPC that an agent writes.
type Message struct {
	Version string               `json:"jsonrpc"`
	ID      any                  `json:"id,omitempty"`
	Method  string               `json:"method,omitempty"`
	Params  any                  `json:"params,omitempty"`
	Result  any                  `json:"result,omitempty"`
	Error   *acpsdk.RequestError `json:"error,omitempty"`
}

// Encode returns a message as JSON on one line. The SDK encodes by the same package.
func (m Message) Encode() []byte {
	m.Version = "2.0"
	b, err := json.Marshal(m)
	if err != nil { // an event holds invalid JSON
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q}`, m.Method)
	}
	return b
}

// Translator makes the messages that Run writes of the events of a session, for readers that are no
// client of it. The id of a prompt is the number of its turn, and that of a request for a
// permission is the id which the events have.
type Translator struct {
	t        translator
	session  string
	prompted int // the turn that began last with a message of the user
}

// Translate returns the messages of the next event.
func (t *Translator) Translate(e event.Event) []Message {
	switch d := e.Data.(type) {
	case event.SessionReady:
		if t.session == "" {
			t.session = d.ProviderSessionID
		}
	case event.TurnStart:
		if len(d.MessageIDs) > 0 {
			t.prompted = e.Turn
		}
	case event.UserMessage:
		t.prompted = e.Turn
	}
	id := acpsdk.SessionId(cmp.Or(t.session, e.SessionID))
	switch out := t.t.translate(e); {
	case out.update != nil:
		return []Message{{Method: acpsdk.ClientMethodSessionUpdate, Params: acpsdk.SessionNotification{SessionId: id, Update: *out.update}}}
	case out.request != nil:
		r := out.request
		return []Message{{ID: r.id, Method: acpsdk.ClientMethodSessionRequestPermission, Params: acpsdk.RequestPermissionRequest{SessionId: id, ToolCall: r.call, Options: r.options}}}
	case out.resolved != "" && !answeredByUser(e):
		return []Message{{Method: "$/cancel_request", Params: map[string]string{"requestId": out.resolved}}}
	case out.reply != nil && t.prompted == e.Turn:
		if out.reply.err != nil {
			return []Message{{ID: e.Turn, Error: out.reply.err}}
		}
		return []Message{{ID: e.Turn, Result: out.reply.response}}
	}
	return nil
}

// answeredByUser reports whether the client answered the request of an event. Of others it is
// notified.
func answeredByUser(e event.Event) bool {
	switch d := e.Data.(type) {
	case event.PermissionResolved:
		return d.By == event.ByUser
	case event.InterruptResolved:
		return d.By == event.ByUser
	}
	return false
}
