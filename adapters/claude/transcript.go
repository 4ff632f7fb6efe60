package claude

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Transcribe implements adapters.Transcriber. It accepts lines of any version, with
// or without partial messages and control messages, beginning anywhere, and the lines of a session
// file, in which the runtime stores the messages of a session.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	t := ledger.Transcribe(runtimeName, sessionID, emit, func(l *ledger.Ledger) (func([]byte), func()) {
		n := &normalizer{t: newTranslator(l)}
		return n.handleLine, n.end
	})
	t.Reason = "eof"
	return t
}

// normalizer reads a transcript, or the file of a session.
type normalizer struct {
	t      *translator
	stored storedTurns
}

// handleLine handles a line. A JSON array (--output-format json --verbose) is handled as one line
// for each element.
func (n *normalizer) handleLine(b []byte) {
	v := jsontext.Value(b)
	if v.Kind() == '[' && v.IsValid(lenient.Options) {
		var list []jsontext.Value
		if json.Unmarshal(v, &list, lenient.Options) == nil {
			for _, e := range list {
				n.handleStoredLine(e)
			}
			return
		}
	}
	n.handleStoredLine(b)
}

func (n *normalizer) end() {
	if s := n.t.l.Turn(); s != nil && s.ToolsOpen() == 0 {
		n.endStoredTurn()
	}
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
