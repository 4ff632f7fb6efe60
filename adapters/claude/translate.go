package claude

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// runtimeName is the runtime's name in session_ready.
const runtimeName = "claude"

// translator turns lines of stdout into events. The session and the normalizer
// share it; what only a living session can do (answer a control request) goes
// through client, which is nil in the normalizer.
type translator struct {
	l      *ledger.Ledger
	client client
	ln     line

	model, mode string // as last told
	provider    string // the runtime's session id

	mail   mailbox
	turn   turnState
	open   stream0
	agents agents
	todo   todoList
	asks   map[string]*ask // open questions by request id
	denied map[string]bool // tool calls (within) whose question was answered with no
}

// client is what the translator asks of a living session.
type client interface {
	refuse(requestID, why string) // an error reply to a control request
	// deny says no to a permission, or cancels a question of an MCP server.
	deny(requestID string, elicits bool, why string)
	// serve takes a call of a hook or a tool of the client; false: there is none.
	serve(requestID string, r *request, b []byte) bool
	judgePermission(requestID string, a *ask) // lets the judge answer a permission, if there is one
	takenBack(requestID string)               // the runtime wants no answer any more
	replied(r *reply, raw []byte)             // a control_response came
	begun()                                   // a turn has begun
	completedWithoutResult(turn int)          // the runtime is done with a message, but the turn's result is missing
	resultBeforeReady(message string)         // the runtime refuses to open
	ready() bool
	checkpoints() bool // copies of files were asked for
}

func newTranslator(l *ledger.Ledger) *translator {
	return &translator{l: l, asks: map[string]*ask{}, denied: map[string]bool{}, agents: newAgents()}
}

// line handles one line of stdout.
func (t *translator) line(b []byte) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return
	}
	ln := &t.ln
	if err := ln.decode(b); err != nil {
		t.odd(b, err)
		return
	}
	if id := ln.SessionID.get(); id != "" {
		t.confirm(ln, id)
	}
	switch ln.Type {
	case "stream_event":
		t.streamEvent(ln, b)
	case "assistant":
		t.assistant(ln, b)
	case "user":
		t.user(ln, b)
	case "system":
		t.system(ln, b)
	case "result":
		t.result(ln)
	case "command_lifecycle":
		t.lifecycle(ln.CommandUUID, string(ln.State))
	case "control_request":
		t.controlRequest(ln, b)
	case "control_cancel_request":
		t.withdraw(ln.RequestID)
	case "control_response":
		t.controlResponse(ln, b)
	case "conversation_reset":
		t.l.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Raw: clone(b),
			Text: "the conversation was cleared: the model knows nothing of what was"})
	case "rate_limit_event":
		if r := ln.RateLimit; r != nil && r.Status != "allowed" && r.Status != "" {
			t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Raw: clone(b),
				Text: "rate limit: " + string(r.Status)})
		}
	case "auth_status":
		if ln.Error != "" {
			t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: string(ln.Error), Raw: clone(b)})
		}
	case "keep_alive", "tool_progress", "tool_use_summary", "prompt_suggestion", "control_request_progress", "session_title_changed", "active_goal":
		// Ignored by name, see doc.go.
	default:
		t.unknown(b)
	}
}

// odd handles a line that does not read as the union of what is known. It must
// lose nothing and end nothing, but a result is an end whatever else it holds.
func (t *translator) odd(b []byte, err error) {
	v := jsontext.Value(b)
	if !v.IsValid(lenient) {
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeGarbage, Text: cut(b, 4096)})
		return
	}
	var core struct {
		Type           word   `json:"type"`
		Subtype        word   `json:"subtype"`
		IsError        bool   `json:"is_error"`
		TerminalReason text   `json:"terminal_reason"`
		RequestID      string `json:"request_id"`
	}
	if json.Unmarshal(b, &core, lenient) == nil {
		t.ln.reset()
		switch core.Type {
		case "result":
			t.ln.Subtype, t.ln.IsError, t.ln.TerminalReason = core.Subtype, core.IsError, core.TerminalReason
			t.result(&t.ln)
		case "control_request":
			if t.client != nil && core.RequestID != "" {
				t.client.refuse(core.RequestID, "the request could not be read")
			}
		}
	}
	t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeUnknownMessage, Text: err.Error(), Raw: clone(b)})
}

func (t *translator) unknown(b []byte) {
	t.l.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeUnknownMessage, Raw: clone(b)})
}

func clone(b []byte) event.Raw { return event.Raw(bytes.Clone(b)) }

func cut(b []byte, n int) string {
	if len(b) > n {
		return strings.ToValidUTF8(string(b[:n]), "\uFFFD") + fmt.Sprintf("… (%d bytes)", len(b))
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// confirm keeps the runtime's session id. In a transcript the first line that
// names it is where the session begins.
func (t *translator) confirm(ln *line, id string) {
	switch {
	case t.provider == id:
	case t.provider == "":
		t.provider = id
	case t.client == nil || t.client.ready():
		t.provider = id
		t.l.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning,
			Text: "the runtime's session has another id from now on", Raw: event.Raw(`{"session_id":` + strconv.Quote(id) + `}`)})
	}
	if t.client != nil || t.l.Ready() || ln.Type == "command_lifecycle" || ln.Type == "result" && t.l.Turn() == nil && ln.NumTurns == 0 && ln.IsError {
		return
	}
	r := event.SessionReady{Runtime: runtimeName, ProviderSessionID: t.provider}
	if ln.Type == "system" && ln.Subtype == "init" {
		r.RuntimeVersion, r.Model, r.Cwd, r.Mode = string(ln.Version), string(ln.Model), string(ln.Cwd), modeName(string(ln.PermissionMode))
		t.model, t.mode = r.Model, r.Mode
	}
	t.l.SessionReady(r)
}

// system handles system messages by their subtype.
func (t *translator) system(ln *line, b []byte) {
	switch ln.Subtype {
	case "init":
		t.init(ln)
	case "status":
		t.status(ln)
	case "api_retry":
		t.turn.retrying = true
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRetry, Raw: clone(b),
			Text: fmt.Sprintf("attempt %.0f of %.0f in %.0f ms: %s", ln.Attempt, ln.MaxRetries, ln.RetryDelay, ln.Error)})
	case "task_started", "task_progress", "task_updated", "task_notification", "background_tasks_changed":
		t.task(ln)
	case "compact_boundary":
		var n int64
		if ln.Compact != nil {
			n = int64(ln.Compact.Post)
		}
		t.anywhere(event.Compaction{Phase: "end", Tokens: n})
	case "permission_denied":
		if ln.ToolUseID != "" {
			sub := ""
			if a := t.agents.byTask[ln.AgentID.get()]; a != nil {
				sub = a.id
			}
			t.denied[within(sub, string(ln.ToolUseID))] = true
		}
	case "model_fallback", "model_refusal_fallback":
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Text: string(ln.Content), Raw: clone(b)})
		t.modelChanged(string(ln.FallbackModel))
	case "informational", "notification", "mirror_error", "session_writes_lost":
		t.l.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeWarning, Raw: clone(b),
			Text: first(string(ln.Content), string(ln.Text), ln.Message.Text, string(ln.Error))})
	case "local_command_output":
		if s := t.scope(ln); s != nil {
			t.whole(s, ln.UUID, string(ln.Content))
		}
	case "hook_response":
		if ln.Outcome == "error" {
			t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning, Raw: clone(b),
				Text: "hook failed: " + string(ln.HookName)})
		}
	case "hook_started", "hook_progress", "thinking_tokens", "model_refusal_no_fallback", "worker_shutting_down", "session_state_changed", "ui_invalidate", "session_title_changed",
		"commands_changed", "files_persisted", "memory_recall", "elicitation_complete", "plugin_install", "control_request_progress":
		// Ignored by name, see doc.go.
	default:
		t.unknown(b)
	}
}

// init comes at the start of each turn and tells what is in force.
func (t *translator) init(ln *line) {
	t.modelChanged(string(ln.Model))
	t.modeChanged(string(ln.PermissionMode))
	if m, s := &t.open, t.l.Turn(); s != nil && t.turn.inited && (!m.running || m.said) && (s.ToolsOpen() == 0 || t.mail.pending()) {
		t.lost() // another one begins
	}
	t.begin()
	t.turn.inited = true
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

func (t *translator) status(ln *line) {
	t.modeChanged(string(ln.PermissionMode))
	if ln.Status == "compacting" {
		t.begin()
		t.anywhere(event.Compaction{Phase: "start"})
	}
	if ln.CompactResult == "failed" {
		t.turn.uncompacted = true
		t.anywhere(event.Compaction{Phase: "end"})
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeWarning,
			Text: "compaction failed: " + string(ln.CompactError)})
	}
}

// anywhere emits an event of the running turn, or else of the session.
func (t *translator) anywhere(d event.Data) {
	if s := t.l.Turn(); s != nil {
		s.Emit(d)
		return
	}
	t.l.Session(d)
}

func first(s ...string) string {
	for _, v := range s {
		if v != "" {
			return v
		}
	}
	return ""
}

// modes maps the runtime's permission modes to ours; others keep their names.
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
