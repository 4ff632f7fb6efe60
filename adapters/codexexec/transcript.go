package codexexec

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
		Reason: "codex exec never asks for permission: Open refuses a Judge",
		Remedy: "a sandbox (the modes read-only and dont-ask), or codex app-server",
	}}
}

// ControlFiles implements reference.Adapter.
func (Adapter) ControlFiles() []string {
	return strings.Fields(".codex .agents AGENTS.md AGENTS.override.md")
}
