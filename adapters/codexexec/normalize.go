package codexexec

import (
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Normalizer converts a transcript of the runtime's stdout, of one process or of several
// that follow each other, with the translator of live sessions.
type Normalizer struct {
	l *ledger.Ledger
	t *translator
}

// NewNormalizer returns a Normalizer that passes events to emit.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	l := ledger.New(event.SessionReady{SessionID: sessionID, Runtime: runtimeName}, event.Position{}, emit)
	return &Normalizer{l: l, t: newTranslator(l, adapters.Options{}, nil)}
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

// Transcribe implements adapters.Transcriber.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return NewNormalizer(sessionID, emit)
}

// Recognizes reports whether a line is one of codex exec, by its type.
func (Adapter) Recognizes(line []byte) bool {
	m := lenient.Decode[message](line)
	kind := string(m.Type)
	for _, prefix := range []string{"thread.", "turn.", "item."} {
		if strings.HasPrefix(kind, prefix) {
			return true
		}
	}
	return kind == "error" && m.Message != ""
}

// Unenforceable implements reference.Adapter. The runtime submits nothing to a Judge, so the
// adapter takes none.
func (Adapter) Unenforceable(string) []adapters.Gap {
	return []adapters.Gap{{
		What:   "every tool call",
		Reason: "codex exec asks nobody, so that Open refuses a Judge",
		Remedy: "a sandbox (the modes read-only and dont-ask), or codex app-server",
	}}
}
