package acp

import (
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/apierror"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// codexMeta is what codex-acp adds to session_info_update about its runtime.
type codexMeta struct {
	Codex struct {
		Error *struct {
			Message   lenient.Str    `json:"message"`
			Details   lenient.Str    `json:"additionalDetails"`
			WillRetry jsontext.Value `json:"willRetry"`
			Info      jsontext.Value `json:"codexErrorInfo"` // by the kind of the error; some kinds are a string
		} `json:"error"`
		ThreadStatus struct {
			Type lenient.Str `json:"type"`
		} `json:"threadStatus"`
	} `json:"codex"`
}

// codexFailure is how a turn of codex-acp fails: the agent states that its runtime is in error,
// sends the words as a message, and ends the turn as any other.
type codexFailure struct {
	failed bool
	words  string
	status int // of the last request to the model that failed
}

// handleInfo handles session_info_update.
func (t *translator) handleInfo(u *update, b []byte) {
	m := lenient.Decode[codexMeta](u.Meta).Codex
	failed := m.ThreadStatus.Type == "systemError"
	if !failed && (m.Error == nil || string(m.Error.WillRetry) != "true") {
		return
	}
	sc := t.scope("a failure of the runtime", b)
	if sc == nil {
		return
	}
	t.codex.failed = t.codex.failed || failed
	if e := m.Error; e != nil && string(e.WillRetry) == "true" {
		for _, info := range lenient.Decode[map[string]struct {
			Status lenient.Num `json:"httpStatusCode"`
		}](e.Info) {
			t.codex.status = int(info.Status)
		}
		if strings.Contains(string(e.Details), incompleteReply) {
			t.endBlock(sc, event.BlockComplete)
		} else {
			t.abandonBlock(sc)
		}
		words := string(e.Message)
		if e.Details != "" {
			words += ": " + string(e.Details)
		}
		sc.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRetry, Text: words})
	}
}

// incompleteReply begins the words for a reply that the model ended early: what it holds stays.
const incompleteReply = "Incomplete response returned"

// blockStatus is the status of the block that is streamed when the turn fails.
func (f *codexFailure) blockStatus() event.BlockStatus {
	if strings.Contains(f.words, incompleteReply) {
		return event.BlockComplete
	}
	return event.BlockInterrupted
}

// abandonBlock retracts the block that is streamed: the runtime repeats the reply.
func (t *translator) abandonBlock(sc *ledger.Scope) {
	if t.block == "" {
		return
	}
	if strings.HasPrefix(t.blockOf, "agent_thought_chunk") {
		sc.ThinkingDone()
		sc.ThinkingRetract(t.block)
		t.block, t.blockOf = "", ""
		return
	}
	t.endBlock(sc, event.BlockRetracted)
}

// errorEvent returns the error by which the turn ends.
func (f *codexFailure) errorEvent() event.Error {
	words := cmp.Or(strings.TrimSpace(f.words), "the turn failed")
	code := codeOf(rpcError{}, words)
	if code == event.ErrorUnknown || code == event.ErrorNetwork {
		if f.status >= 400 {
			code = apierror.FromStatus(f.status)
		}
	}
	if code == event.ErrorUnknown && strings.HasPrefix(words, "{") { // the body of a 400, unchanged
		code = event.ErrorInvalid
	}
	return event.Error{Code: code, Message: words}
}
