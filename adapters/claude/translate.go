package claude

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// runtimeName is the runtime's name in session_ready.
const runtimeName = "claude"

// translator converts lines of stdout to events. The live session and the
// transcripts share it.
type translator struct {
	l    *ledger.Ledger
	live *protocol // nil in a transcript
	ln   line

	model, mode string // as last emitted
	provider    string // the runtime's session id

	queue     messageQueue
	turn      turnState
	stream    messageStream
	agents    agents
	todo      todoList
	questions session.Questions[*question]
	denied    map[string]bool // denied tool calls, by toolKey
}

func newTranslator(l *ledger.Ledger) *translator {
	return &translator{l: l, denied: map[string]bool{}, agents: newAgents()}
}

// handleLine handles one line of stdout.
func (t *translator) handleLine(b []byte) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return
	}
	ln := &t.ln
	if err := ln.decodeLine(b); err != nil {
		t.handleUnreadable(b, err)
		return
	}
	if id := ln.SessionID.get(); id != "" {
		t.updateSessionID(ln, id, b)
	}
	switch ln.Type {
	case "stream_event":
		t.handleStreamEvent(ln, b)
	case "assistant":
		t.handleAssistant(ln, b)
	case "user":
		t.handleUser(ln, b)
	case "system":
		t.handleSystem(ln, b)
	case "result":
		t.handleResult(ln)
	case "command_lifecycle":
		t.handleLifecycle(ln.CommandUUID, string(ln.State))
	case "control_request":
		t.handleControlRequest(ln, b)
	case "control_cancel_request":
		t.withdrawQuestion(ln.RequestID)
	case "control_response":
		t.handleControlResponse(ln, b)
	case "conversation_reset":
		t.l.Notice(event.LevelInfo, event.NoticeWarning, "the conversation was cleared: the model does not remember earlier messages", b)
	case "rate_limit_event":
		if r := ln.RateLimit; r != nil && r.Status != "allowed" && r.Status != "" {
			t.warn("rate limit: "+string(r.Status), b)
		}
	case "auth_status":
		if ln.Error != "" {
			t.warn(string(ln.Error), b)
		}
	case "tool_progress":
		t.emitProgress(ln)
	case "keep_alive", "tool_use_summary", "prompt_suggestion", "control_request_progress", "session_title_changed", "active_goal":
		// Ignored, see doc.go.
	default:
		t.l.Unknown(string(t.ln.Type), b)
	}
}

// handleUnreadable handles a line that the typed decoder rejects. No
// information may be lost and nothing may end, except that a result ends the
// turn whatever else it contains.
func (t *translator) handleUnreadable(b []byte, err error) {
	if !jsontext.Value(b).IsValid(lenient.Options) {
		t.l.Unreadable(b)
		return
	}
	var core struct {
		Type           word        `json:"type"`
		Subtype        word        `json:"subtype"`
		IsError        bool        `json:"is_error"`
		TerminalReason lenient.Str `json:"terminal_reason"`
		RequestID      string      `json:"request_id"`
	}
	if json.Unmarshal(b, &core, lenient.Options) == nil {
		t.ln.reset()
		switch core.Type {
		case "result":
			t.ln.Subtype, t.ln.IsError, t.ln.TerminalReason = core.Subtype, core.IsError, core.TerminalReason
			t.handleResult(&t.ln)
		case "control_request":
			if t.live != nil && core.RequestID != "" {
				t.live.refuseRequest(core.RequestID, "the request could not be read")
			}
		}
	}
	t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, err.Error(), b)
}

func (t *translator) warn(text string, raw []byte) {
	t.l.Notice(event.LevelWarning, event.NoticeWarning, text, raw)
}

// updateSessionID stores the runtime's session id. In a transcript, the session
// begins with the first line that has one.
func (t *translator) updateSessionID(ln *line, id string, b []byte) {
	switch {
	case t.provider == id:
	case t.provider == "":
		t.provider = id
	case t.live == nil || t.live.isReady:
		t.provider = id
		t.l.Notice(event.LevelInfo, event.NoticeWarning, "the runtime's session id has changed", b)
	}
	if t.live != nil || t.l.Ready() || ln.Type == "command_lifecycle" || ln.Type == "result" && t.l.Turn() == nil && ln.NumTurns == 0 && ln.IsError {
		return
	}
	r := event.SessionReady{Runtime: runtimeName, ProviderSessionID: t.provider}
	if ln.Type == "system" && ln.Subtype == "init" {
		r.RuntimeVersion, r.Model, r.Cwd, r.Mode = string(ln.Version), string(ln.Model), string(ln.Cwd), modeName(string(ln.PermissionMode))
		t.model, t.mode = r.Model, r.Mode
	}
	t.l.SessionReady(r)
}

// handleSystem handles system messages by subtype.
func (t *translator) handleSystem(ln *line, b []byte) {
	switch ln.Subtype {
	case "init":
		t.handleInit(ln)
	case "status":
		t.handleStatus(ln)
	case "api_retry":
		t.turn.retrying = true
		t.l.Notice(event.LevelWarning, event.NoticeRetry, fmt.Sprintf("attempt %.0f of %.0f in %.0f ms: %s", ln.Attempt, ln.MaxRetries, ln.RetryDelay, ln.Error), b)
	case "task_started", "task_progress", "task_updated", "task_notification", "background_tasks_changed":
		t.handleTask(ln)
	case "compact_boundary":
		var n int64
		if ln.Compact != nil {
			n = int64(ln.Compact.Post)
		}
		t.l.Emit(event.Compaction{Phase: "end", Tokens: n})
	case "permission_denied":
		if ln.ToolUseID != "" {
			sub := ""
			if a := t.agents.byTask[ln.AgentID.get()]; a != nil {
				sub = a.id
			}
			t.denied[toolKey(sub, string(ln.ToolUseID))] = true
		}
	case "model_fallback", "model_refusal_fallback":
		t.warn(string(ln.Content), b)
		t.modelChanged(string(ln.FallbackModel))
	case "informational", "notification", "mirror_error", "session_writes_lost":
		t.l.Notice(event.LevelInfo, event.NoticeWarning, cmp.Or(string(ln.Content), string(ln.Text), ln.Message.Text, string(ln.Error)), b)
	case "local_command_output":
		if s := t.lineScope(ln); s != nil {
			t.emitWhole(s, ln.UUID, string(ln.Content))
		}
	case "hook_response":
		if ln.Outcome == "error" {
			t.warn("hook failed: "+string(ln.HookName), b)
		}
	case "hook_started", "hook_progress", "thinking_tokens", "model_refusal_no_fallback", "worker_shutting_down", "session_state_changed", "ui_invalidate", "session_title_changed",
		"commands_changed", "files_persisted", "memory_recall", "elicitation_complete", "plugin_install", "control_request_progress":
		// Ignored, see doc.go.
	default:
		t.l.Unknown(string(t.ln.Type), b)
	}
}

// handleInit handles the init at the start of each turn, which reports the
// settings in force.
func (t *translator) handleInit(ln *line) {
	t.modelChanged(string(ln.Model))
	t.modeChanged(string(ln.PermissionMode))
	if m, s := &t.stream, t.l.Turn(); s != nil && t.turn.initSeen && (!m.running || m.stopReasonSeen) && (s.ToolsOpen() == 0 || t.queue.hasMessages()) {
		t.endWithoutResult(resultMissing()) // another turn begins
	}
	t.startTurn()
	t.turn.initSeen = true
}

func (t *translator) modelChanged(m string) {
	if m != "" && m != t.model {
		t.model = m
		t.l.Session(event.ModelChanged{Value: m})
	}
}

func (t *translator) modeChanged(m string) {
	if m = modeName(m); m != "" && m != t.mode {
		t.mode = m
		t.l.Session(event.ModeChanged{Value: m})
	}
}

func (t *translator) handleStatus(ln *line) {
	t.modeChanged(string(ln.PermissionMode))
	if ln.Status == "compacting" {
		t.startTurn()
		t.l.Emit(event.Compaction{Phase: "start"})
	}
	if ln.CompactResult == "failed" {
		t.turn.compactionFailed = true
		t.l.Emit(event.Compaction{Phase: "end"})
		t.warn("compaction failed: "+string(ln.CompactError), nil)
	}
}

// modes maps our permission modes to the runtime's names. Other modes keep
// their names.
var modes = map[string]string{"ask": "default", "accept-edits": "acceptEdits", "dont-ask": "dontAsk", "never": "bypassPermissions"}

func modeName(runtime string) string {
	for ours, theirs := range modes {
		if runtime == theirs {
			return ours
		}
	}
	return runtime
}

func modeFlag(ours string) string {
	if theirs, ok := modes[ours]; ok {
		return theirs
	}
	return ours
}
