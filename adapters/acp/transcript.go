package acp

import (
	"strings"

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
		t := &translator{l: l, agent: &otherAgent}
		return t.handleLine, func() {
			if t.opened {
				t.announce()
			}
		}
	})
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
