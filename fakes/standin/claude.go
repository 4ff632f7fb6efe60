package standin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// claudeDialect is the wire of `claude -p` with stream-json both ways.
type claudeDialect struct{}

type claudeFrame struct {
	Type      string         `json:"type"`
	Subtype   string         `json:"subtype"`
	Status    string         `json:"status"`
	RequestID jsontext.Value `json:"request_id"`
	Request   claudeRequest  `json:"request"`
	Response  struct {
		Subtype   string         `json:"subtype"`
		RequestID jsontext.Value `json:"request_id"`
		Response  jsontext.Value `json:"response"`
	} `json:"response"`
	UUID     string  `json:"uuid"`
	Priority string  `json:"priority"`
	IsReplay bool    `json:"isReplay"`
	Command  string  `json:"command_uuid"`
	Parent   *string `json:"parent_tool_use_id"`
	Message  struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	} `json:"message"`
}

type claudeRequest struct {
	Callback string         `json:"callback_id"`
	Subtype  string         `json:"subtype"`
	Model    *string        `json:"model"`
	Mode     string         `json:"mode"`
	Input    jsontext.Value `json:"input"`
	TaskID   string         `json:"task_id"`
	Message  string         `json:"message_uuid"`
	Agent    string         `json:"agent_id"`
	Tool     string         `json:"tool_use_id"`
	Title    string         `json:"title"`
	Rewinds  string         `json:"user_message_id"`
	Dry      bool           `json:"dry_run"`
	Queued   bool           `json:"cancel_queued"`
	Schema   jsontext.Value `json:"jsonSchema"`
	MCP      jsontext.Value `json:"message"` // of mcp_message
}

type claudeBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// content is the text of a message, and whether it has nothing but text and
// reasoning.
func content(v jsontext.Value) (text string, only bool) {
	if decode(v, &text) == nil {
		return text, true
	}
	var blocks []claudeBlock
	if decode(v, &blocks) != nil {
		return "", false
	}
	only = len(blocks) > 0
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.Text)
		only = only && (b.Type == "text" || b.Type == "thinking" || b.Type == "redacted_thinking")
	}
	return all.String(), only
}

// wordless reports whether a block of text has no member for it, not even an empty
// one: the runtime then fails before it asks its model, and says nothing.
func wordless(v jsontext.Value) bool {
	var blocks []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if decode(v, &blocks) != nil {
		return false
	}
	for _, b := range blocks {
		if b.Type == "text" && b.Text == nil {
			return true
		}
	}
	return false
}

func (claudeDialect) act(line []byte) act {
	if len(bytes.TrimSpace(line)) == 0 {
		return act{kind: KindNote}
	}
	var f claudeFrame
	if decode(line, &f) != nil {
		return act{kind: KindJunk}
	}
	switch f.Type {
	case "user":
		text, _ := content(f.Message.Content)
		if wordless(f.Message.Content) {
			return act{kind: KindJunk}
		}
		return act{kind: KindSend, text: text, chose: f.UUID, names: f.Priority}
	case "control_response":
		a := act{kind: KindAnswer, id: f.Response.RequestID}
		a.answer, a.words = claudeAnswer(&f)
		return a
	case "control_request":
		a := act{kind: KindRead, id: f.RequestID, method: f.Request.Subtype}
		if at, ok := member(line, "request"); ok {
			a.params = line[at.from:at.to]
		}
		switch f.Request.Subtype {
		case "":
			a.kind = KindJunk
		case "initialize":
			a.kind, a.soft = KindOpen, true
			if at, ok := member(a.params, "hooks"); ok {
				a.hooks = readHooks(a.params[at.from:at.to])
				a.sets.hooks = hooksOf(a.params[at.from:at.to])
			}
			a.sets.schema = canonical(f.Request.Schema)
		case "interrupt":
			a.kind = KindStop
			if f.Request.Queued {
				a.names = "all"
			}
		case "stop_task":
			a.kind, a.names = KindTask, f.Request.TaskID
		case "cancel_async_message":
			a.kind, a.names = KindTask, f.Request.Message
		case "set_model":
			a.kind = KindSet
			if f.Request.Model != nil {
				a.text, a.sets.model = *f.Request.Model, *f.Request.Model
			}
		case "set_permission_mode":
			a.kind, a.text, a.mode, a.sets.asks = KindSet, f.Request.Mode, f.Request.Mode, f.Request.Mode
		case "rename_session", "end_session":
			a.kind, a.text = KindSession, f.Request.Title
		case "rewind_files":
			a.kind, a.turn = KindSession, f.Request.Rewinds
			if f.Request.Dry {
				a.text = "dry"
			}
		}
		return a
	}
	return act{kind: KindNote} // unknown types are ignored
}

func claudeAnswer(f *claudeFrame) (a answer, words string) {
	if f.Response.Subtype != "success" {
		return answer{decision: Failed}, ""
	}
	var r struct {
		Behavior  string         `json:"behavior"`
		Interrupt bool           `json:"interrupt"`
		Input     jsontext.Value `json:"updatedInput"`
		Rules     []struct {
			Destination string `json:"destination"`
		} `json:"updatedPermissions"`
		Action  string         `json:"action"`
		Content jsontext.Value `json:"content"`
		MCP     jsontext.Value `json:"mcp_response"`
		Message string         `json:"message"`
		Hook    struct {
			Decision string         `json:"permissionDecision"`
			Reason   string         `json:"permissionDecisionReason"`
			Input    jsontext.Value `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	_ = decode(f.Response.Response, &r) // an answer of another form is compared as a value
	switch {
	case r.Behavior == "allow":
		a := answer{decision: Allow, value: r.Input}
		for _, rule := range r.Rules {
			if a.scope != always && rule.Destination == session {
				a.scope = session
			} else {
				a.scope = always
			}
		}
		return a, ""
	case r.Behavior == "deny" && r.Interrupt:
		return answer{decision: Cancel}, r.Message
	case r.Behavior == "deny":
		return answer{decision: Deny}, r.Message
	case r.Behavior != "":
		return answer{decision: Failed}, "" // the runtime does not run the tool
	case r.Hook.Decision == "deny":
		return answer{decision: Deny}, r.Hook.Reason
	case r.Hook.Decision == "allow":
		return answer{decision: Allow, value: r.Hook.Input}, ""
	case r.MCP != nil:
		return mcpAnswer(r.MCP), ""
	case r.Action == "accept":
		return answer{decision: Allow, value: content0(r.Content)}, ""
	case r.Action == "decline":
		return answer{decision: Deny}, ""
	case r.Action == "cancel":
		return answer{decision: Cancel}, ""
	}
	return answer{decision: Value, value: content0(f.Response.Response)}, ""
}

func (claudeDialect) said(line []byte) said {
	var f claudeFrame
	if decode(line, &f) != nil {
		return said{}
	}
	switch f.Type {
	case "control_response":
		return said{reply: f.Response.RequestID}
	case "control_request":
		s := said{asks: f.RequestID, input: f.Request.Input, asked: f.Request.Subtype, tool: f.Request.Tool, hook: f.Request.Callback, thread: f.Request.Agent}
		s.call, s.ends = mcpCall(f.Request.MCP)
		return s
	case "control_cancel_request":
		return said{drops: f.RequestID}
	case "result":
		return said{turn: -1}
	case "stream_event":
		return said{label: partial}
	case "command_lifecycle":
		return said{label: lifecycle, about: []string{f.Command}}
	case "system":
		switch {
		case f.Subtype == "init":
			return said{turn: 1}
		case f.Subtype == "status" && f.Status == "requesting":
			return said{label: partial}
		case f.Subtype == "session_state_changed":
			return said{label: state}
		}
	case "user", "assistant":
		text, only := content(f.Message.Content)
		s := said{text: only && f.Type == "assistant"}
		// The output of a local command comes as a replay, asked for or not.
		if f.IsReplay && !strings.HasPrefix(text, "<local-command-") {
			s.label = replayed
		}
		if f.Parent != nil {
			s.parent = *f.Parent
		}
		return s
	}
	return said{}
}

func (claudeDialect) same(rec, sub *act, tr func(string) string) bool {
	return rec.kind == sub.kind && rec.method == sub.method && rec.text == sub.text && tr(rec.names) == sub.names &&
		(rec.turn == "" || tr(rec.turn) == sub.turn)
}

func (claudeDialect) misfit(string, []byte) string { return "" }

func (claudeDialect) idMember() []string { return []string{"response", "request_id"} }

func (claudeDialect) refuse(a *act, why string) []byte {
	if a.id == nil || a.kind == KindAnswer {
		return nil
	}
	text, err := json.Marshal(why, asItCame)
	if err != nil {
		text = []byte(`"refused"`)
	}
	return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"error","request_id":%s,"error":%s}}`, a.id, text)
}

func (claudeDialect) result(a *act, result jsontext.Value) []byte {
	if result.Kind() == 'n' {
		return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":%s}}`, a.id)
	}
	return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":%s,"response":%s}}`, a.id, result)
}

// fail gets the whole response object.
func (claudeDialect) fail(a *act, e jsontext.Value) []byte {
	at, ok := member(e, "request_id")
	if !ok {
		return claudeDialect{}.refuse(a, "refused")
	}
	return fmt.Appendf(nil, `{"type":"control_response","response":%s%s%s}`, e[:at.from], a.id, e[at.to:])
}

func (claudeDialect) setting(params jsontext.Value) string {
	var r claudeRequest
	_ = decode(params, &r) // what sets nothing has neither
	if r.Model != nil {
		return *r.Model
	}
	return r.Mode
}

func (claudeDialect) version(v string) string { return v + " (Claude Code)" }
func (claudeDialect) mustInitialize() bool    { return false }
func (claudeDialect) closesAtOnce() bool      { return false }

func (claudeDialect) wants(s *said, l *launch) bool {
	if s.hook != "" {
		return l.hooks.as(l.p.s.processes[l.n].hooks, s.hook) != ""
	}
	switch s.label {
	case partial:
		return l.flag("--include-partial-messages")
	case replayed:
		return l.flag("--replay-user-messages")
	case state:
		return l.getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") != "" || l.getenv("CLAUDE_CODE_SDK_READS_SESSION_STATE") != ""
	case lifecycle:
		return slices.ContainsFunc(s.about, l.named)
	}
	if s.text && s.parent != "" && !l.background[s.parent] {
		return l.flag("--forward-subagent-text")
	}
	return true
}

// extras: what is said of messages that the client named, and the mark of a
// state that is said because CLAUDE_CODE_SDK_READS_SESSION_STATE asks for it.
func (claudeDialect) extras(s *said) []string {
	if s.label == state {
		return []string{"sdk_host_only"}
	}
	return []string{"owed_rows", "first_request_input_tokens", "first_request_cache_read_input_tokens", "request_sent_wall_ms"}
}

func (claudeDialect) gets(extra string, ids []string, l *launch) bool {
	if extra == "sdk_host_only" {
		return l.getenv("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") == ""
	}
	return len(ids) == 0 || slices.ContainsFunc(ids, l.named)
}

func (claudeDialect) waitsFor(string) bool { return false }

func (claudeDialect) input(*launch, []byte) ([]byte, bool) { return nil, false }
