package runtime

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
	IsReplay bool    `json:"isReplay"`
	Command  string  `json:"command_uuid"`
	Parent   *string `json:"parent_tool_use_id"`
	Message  struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	} `json:"message"`
}

type claudeRequest struct {
	Subtype string         `json:"subtype"`
	Model   *string        `json:"model"`
	Mode    string         `json:"mode"`
	Input   jsontext.Value `json:"input"`
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
	var textSb60 strings.Builder
	for _, b := range blocks {
		textSb60.WriteString(b.Text)
		only = only && (b.Type == "text" || b.Type == "thinking" || b.Type == "redacted_thinking")
	}
	text += textSb60.String()
	return text, only
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
		return act{kind: KindSend, text: text, chose: f.UUID}
	case "control_response":
		return act{kind: KindAnswer, id: f.Response.RequestID, answer: claudeAnswer(&f)}
	case "control_request":
		a := act{kind: KindRead, id: f.RequestID, method: f.Request.Subtype}
		switch f.Request.Subtype {
		case "":
			a.kind = KindJunk
		case "initialize":
			a.kind, a.soft = KindOpen, true
		case "interrupt":
			a.kind = KindStop
		case "set_model":
			a.kind = KindSet
			if f.Request.Model != nil {
				a.text = *f.Request.Model
			}
		case "set_permission_mode":
			a.kind, a.text = KindSet, f.Request.Mode
		}
		return a
	}
	return act{kind: KindNote} // unknown types are ignored
}

func claudeAnswer(f *claudeFrame) answer {
	if f.Response.Subtype != "success" {
		return answer{decision: Failed}
	}
	var r struct {
		Behavior  string         `json:"behavior"`
		Interrupt bool           `json:"interrupt"`
		Input     jsontext.Value `json:"updatedInput"`
	}
	_ = decode(f.Response.Response, &r) // an answer of another form is compared as a value
	switch {
	case r.Behavior == "allow":
		return answer{Allow, r.Input}
	case r.Behavior == "deny" && r.Interrupt:
		return answer{decision: Cancel}
	case r.Behavior == "deny":
		return answer{decision: Deny}
	}
	return answer{Value, f.Response.Response}
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
		return said{asks: f.RequestID, input: f.Request.Input}
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

func (claudeDialect) same(rec, sub *act, _ func(string) string) bool {
	return rec.kind == sub.kind && rec.method == sub.method && rec.text == sub.text
}

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
	switch s.label {
	case partial:
		return l.flag("--include-partial-messages")
	case replayed:
		return l.flag("--replay-user-messages")
	case state:
		return l.getenv("CLAUDE_CODE_SDK_READS_SESSION_STATE") != ""
	case lifecycle:
		return slices.ContainsFunc(s.about, l.named)
	}
	if s.text && s.parent != "" && !l.background[s.parent] {
		return l.flag("--forward-subagent-text")
	}
	return true
}

func (claudeDialect) onSignal(s string) (int, bool) {
	switch s {
	case "SIGTERM":
		return 143, false
	case "SIGINT":
		return 0, false
	}
	return 0, true
}
