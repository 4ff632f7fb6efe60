package claude

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Normalizer converts the stdout of a Claude runtime to events, without the
// runtime. It accepts lines of any version, with or without partial messages
// and control messages, beginning anywhere, and the lines of a session file, in which
// the runtime stores the messages of a session. It never fails, and its memory is
// bounded by what is open.
type Normalizer struct {
	t      *translator
	stored storedTurns
}

// NewNormalizer returns a Normalizer of a session. Line and End call emit in
// order.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	return &Normalizer{t: newTranslator(ledger.New(
		event.SessionReady{SessionID: sessionID, Runtime: runtimeName}, event.Position{}, emit))}
}

// Line handles a line that was received at a time. A JSON array
// (--output-format json --verbose) is handled as one line for each element.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.t.l.SetTime(at)
	v := jsontext.Value(b)
	if v.Kind() == '[' && v.IsValid(lenient.Options) {
		var list []jsontext.Value
		if json.Unmarshal(v, &list, lenient.Options) == nil {
			for _, e := range list {
				n.t.handleLine(e)
			}
			return
		}
	}
	if !n.handleStored(b) {
		n.t.handleLine(b)
	}
}

// End ends the session. A turn that still runs ends in an error.
func (n *Normalizer) End() {
	if s := n.t.l.Turn(); s != nil && s.ToolsOpen() == 0 {
		n.endStoredTurn()
	}
	n.t.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: "eof"})
}

// Mapping implements reference.Adapter.
func (Adapter) Mapping() []adapters.Mapped { return Mapping() }

// Unenforceable implements reference.Adapter.
func (Adapter) Unenforceable(version string) []adapters.Gap { return Unenforceable(version) }

// Recognizes reports whether a line is one of Claude Code, by its type.
func (Adapter) Recognizes(line []byte) bool {
	var m struct {
		Type jsontext.Value `json:"type"`
	}
	if json.Unmarshal(line, &m, lenient.Options) != nil {
		return false
	}
	switch string(m.Type) {
	case `"system"`, `"assistant"`, `"user"`, `"result"`, `"stream_event"`, `"control_request"`, `"control_response"`:
		return true
	}
	return false
}
