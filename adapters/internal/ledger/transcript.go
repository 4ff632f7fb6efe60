package ledger

import (
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// Transcript reads a recording of a runtime's stdout with the translator of live sessions. It
// implements adapters.Transcript. It never fails, and its memory is bounded by what is open.
type Transcript struct {
	ledger *Ledger
	line   func(b []byte)
	end    func() // nil: nothing is left open that has no line for its end
	Reason string // of session_end
}

// Transcribe returns the transcript of a session. build returns what handles a line, and what is
// done at the end, or nil.
func Transcribe(runtime, sessionID string, emit func(event.Event), build func(*Ledger) (line func([]byte), end func())) *Transcript {
	t := &Transcript{Reason: "end of transcript", ledger: New(event.SessionReady{SessionID: sessionID, Runtime: runtime}, event.Position{}, emit)}
	t.line, t.end = build(t.ledger)
	return t
}

// Line handles one line that was received at a time. b is not retained.
func (t *Transcript) Line(at time.Time, b []byte) {
	t.ledger.SetTime(at)
	t.line(b)
}

// End ends the session. A turn that still runs ends in an error.
func (t *Transcript) End() {
	if t.end != nil {
		t.end()
	}
	t.ledger.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: t.Reason})
}
