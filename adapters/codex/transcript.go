package codex

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Transcribe implements adapters.Transcriber. It does not need the client's lines,
// because the replies show what was requested. It also reads rollout files, in which the runtime
// keeps its threads.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return ledger.Transcribe("codex", sessionID, emit, func(l *ledger.Ledger) (func([]byte), func()) {
		n := &normalizer{l: l, t: &translator{l: l}}
		return n.handleLine, n.end
	})
}

// normalizer reads a transcript, or a rollout file.
type normalizer struct {
	l *ledger.Ledger
	t *translator
	r *rollout // nil until a line is of a rollout file
}

func (n *normalizer) handleLine(b []byte) {
	if n.r == nil && bytes.Contains(b, []byte(`"payload"`)) {
		if _, ok := decodeRollout(b); ok {
			n.r = &rollout{l: n.l}
		}
	}
	if n.r == nil || !n.r.handleLine(b) {
		n.t.handleLine(b)
	}
}

func (n *normalizer) end() {
	if n.r == nil || n.l.Turn() == nil {
		return
	}
	n.r.emitHeld()
	if !n.r.bounded && n.l.Turn().ToolsOpen() == 0 {
		n.r.endTurn() // the file has no line for the end
	}
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
