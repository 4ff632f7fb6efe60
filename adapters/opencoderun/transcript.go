package opencoderun

import (
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Transcribe implements adapters.Transcriber. It reads the stdout of one process, or of
// several that follow each other.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return ledger.Transcribe(runtimeName, sessionID, emit, func(l *ledger.Ledger) (func([]byte), func()) {
		return newTranslator(l, adapters.Options{}, nil).handleLine, nil
	})
}

// Recognizes reports whether a line is one of opencode run: it names a session and a time.
func (Adapter) Recognizes(line []byte) bool {
	m := lenient.Decode[message](line)
	return m.Type != "" && m.Timestamp != 0 && strings.HasPrefix(string(m.Session), "ses_")
}

// Unenforceable implements reference.Adapter. The runtime submits nothing to a Judge, so the
// adapter takes none.
func (Adapter) Unenforceable(string) []adapters.Gap {
	return []adapters.Gap{{
		What:   "every tool call",
		Reason: "opencode run never asks for permission: Open refuses a Judge",
		Remedy: "opencode serve, or rules that deny in the settings",
	}}
}

// ControlFiles implements reference.Adapter.
func (Adapter) ControlFiles() []string {
	return strings.Fields(".opencode opencode.json opencode.jsonc .claude .agents AGENTS.md CLAUDE.md")
}
