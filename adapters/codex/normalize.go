package codex

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Normalizer converts a transcript of the runtime's stdout to events, with the
// translator of live sessions. It does not need the client's lines, because the
// replies show what was requested. It also reads rollout files, in which the runtime
// keeps its threads.
type Normalizer struct {
	l *ledger.Ledger
	t *translator
	r *rollout // nil until a line is of a rollout file
}

// NewNormalizer returns a Normalizer that passes events to emit.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	l := ledger.New(event.SessionReady{SessionID: sessionID, Runtime: "codex"}, event.Position{}, emit)
	return &Normalizer{l: l, t: &translator{l: l}}
}

// Line handles one line of stdout that was received at a time. b is not
// retained.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.l.SetTime(at)
	if n.r == nil && bytes.Contains(b, []byte(`"payload"`)) {
		if _, ok := decodeRollout(b); ok {
			n.r = &rollout{l: n.l}
		}
	}
	if n.r == nil || !n.r.handleLine(b) {
		n.t.handleLine(b)
	}
}

// End ends the session. A turn that still runs ends in an error.
func (n *Normalizer) End() {
	if sc := n.l.Turn(); n.r != nil && !n.r.bounded && sc != nil && sc.ToolsOpen() == 0 {
		n.r.endTurn() // the file has no line for the end
	}
	n.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: "end of transcript"})
}

// Mapping implements reference.Adapter.
func (Adapter) Mapping() []adapters.Mapped { return Mapping() }

// Unenforceable implements reference.Adapter.
func (Adapter) Unenforceable(version string) []adapters.Gap { return Unenforceable(version) }

// Recognizes reports whether a line is one of codex app-server, which has a method or is a
// reply, or of a rollout file.
func (Adapter) Recognizes(line []byte) bool {
	if _, ok := decodeRollout(line); ok {
		return true
	}
	var m struct {
		Version jsontext.Value `json:"jsonrpc"` // the app server leaves it out
		Type    jsontext.Value `json:"type"`
		Method  jsontext.Value `json:"method"`
		ID      jsontext.Value `json:"id"`
		Result  jsontext.Value `json:"result"`
		Error   jsontext.Value `json:"error"`
	}
	return json.Unmarshal(line, &m, lenient.Options) == nil && m.Version == nil && m.Type == nil && (m.Method != nil || m.ID != nil && (m.Result != nil || m.Error.Kind() == '{'))
}
