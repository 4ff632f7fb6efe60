package claude

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// Normalizer turns the stdout of a Claude runtime into events, without the
// runtime. It takes lines of any version, with or without partial messages and
// control messages, beginning anywhere; it never fails and keeps no more than
// what is open.
type Normalizer struct {
	t *translator
}

// NewNormalizer makes a Normalizer of a session. emit is called in order, from
// Line and End.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	return &Normalizer{newTranslator(ledger.New(
		event.SessionReady{SessionID: sessionID, Runtime: runtimeName}, event.Position{}, emit))}
}

// Line handles a line that was received at a time. Of a JSON array (the form of
// --output-format json --verbose) each element is a line.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.t.l.SetTime(at)
	v := jsontext.Value(b)
	if v.Kind() == '[' && v.IsValid(lenient) {
		var list []jsontext.Value
		if json.Unmarshal(v, &list, lenient) == nil {
			for _, e := range list {
				n.t.line(e)
			}
			return
		}
	}
	n.t.line(b)
}

// End says that no line follows: a turn that has not ended ends in an error,
// and so does the session's stream.
func (n *Normalizer) End() {
	n.t.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends in mid-turn"},
		event.SessionEnd{Reason: "eof"})
}
