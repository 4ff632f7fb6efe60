package acp

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Normalizer converts a transcript of an agent's stdout to events, with the translator of
// live sessions.
type Normalizer struct {
	l *ledger.Ledger
	t *translator
}

// NewNormalizer returns a Normalizer that passes events to emit.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	l := ledger.New(event.SessionReady{SessionID: sessionID, Runtime: runtimeName}, event.Position{}, emit)
	return &Normalizer{l: l, t: &translator{l: l}}
}

// Line handles one line of stdout that was received at a time. b is not retained.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.l.SetTime(at)
	n.t.handleLine(b)
}

// End ends the session. A turn that still runs ends in an error.
func (n *Normalizer) End() {
	if n.t.opened {
		n.t.announce()
	}
	n.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: "end of transcript"})
}

// Recognizes reports whether a line is one of an agent: of version 2.0 of JSON-RPC, and of a
// method or a result of the protocol.
func (Adapter) Recognizes(b []byte) bool {
	var m struct {
		Version lenient.Str               `json:"jsonrpc"`
		Method  lenient.Str               `json:"method"`
		Result  map[string]jsontext.Value `json:"result"`
	}
	if json.Unmarshal(b, &m, lenient.Options) != nil || m.Version != "2.0" {
		return false
	}
	for _, prefix := range []string{"session/", "fs/", "terminal/", "elicitation/"} {
		if strings.HasPrefix(string(m.Method), prefix) {
			return true
		}
	}
	return m.Result["stopReason"] != nil || m.Result["agentCapabilities"] != nil
}
