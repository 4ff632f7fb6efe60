package opencode

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// Normalizer converts a transcript of the server's lines to events, with the translator of
// live sessions.
type Normalizer struct {
	l *ledger.Ledger
	t *translator
}

// NewNormalizer returns a Normalizer that passes events to emit.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	l := ledger.New(event.SessionReady{SessionID: sessionID, Runtime: runtimeName}, event.Position{}, emit)
	return &Normalizer{l: l, t: newTranslator(l, nil)}
}

// Line handles one line that was received at a time. b is not retained.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.l.SetTime(at)
	n.t.handleLine(b)
}

// End ends the session. A turn that still runs ends in an error.
func (n *Normalizer) End() {
	n.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: "end of transcript"})
}

// Recognizes reports whether a line is one of OpenCode.
func (Adapter) Recognizes(b []byte) bool {
	var m line
	if json.Unmarshal(b, &m, lenient) != nil {
		return false
	}
	return strings.HasPrefix(string(decode[properties](m.Data).ID), "evt_")
}
