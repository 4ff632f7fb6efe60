package pi

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// Transcribe implements adapters.Transcriber.
func (Adapter) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	return ledger.Transcribe(runtimeName, sessionID, emit, func(l *ledger.Ledger) (func([]byte), func()) {
		t := &translator{l: l, files: map[string]bool{}}
		return t.handleLine, nil
	})
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
