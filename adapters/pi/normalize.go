package pi

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Normalizer converts a transcript of the runtime's stdout to events, with the translator
// of live sessions.
type Normalizer struct {
	l *ledger.Ledger
	t *translator
}

// NewNormalizer returns a Normalizer that passes events to emit.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	l := ledger.New(event.SessionReady{SessionID: sessionID, Runtime: runtimeName}, event.Position{}, emit)
	return &Normalizer{l: l, t: &translator{l: l, files: map[string]bool{}}}
}

// Line handles one line of stdout that was received at a time. b is not retained.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.l.SetTime(at)
	n.t.handleLine(b)
}

// End ends the session. A turn that still runs ends in an error.
func (n *Normalizer) End() {
	n.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: "end of transcript"})
}

// ownTypes are types of lines that no other runtime has.
var ownTypes = []string{
	"agent_start", "agent_end", "agent_settled", "message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_update",
	"tool_execution_end", "queue_update", "auto_retry_start", "auto_retry_end", "compaction_start", "compaction_end", "extension_ui_request",
}

// Recognizes reports whether a line is one of Pi.
func (Adapter) Recognizes(b []byte) bool {
	var m struct {
		Type    lenient.Str    `json:"type"`
		Command lenient.Str    `json:"command"`
		Success jsontext.Value `json:"success"`
	}
	if json.Unmarshal(b, &m, lenient.Options) != nil {
		return false
	}
	return m.Type == "response" && m.Command != "" && m.Success != nil || slices.Contains(ownTypes, string(m.Type))
}
