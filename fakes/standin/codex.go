package standin

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// codexDialect is the wire of `codex app-server`: JSON-RPC without a version.
type codexDialect struct{}

type codexFrame struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
}

type codexParams struct {
	ThreadID       string         `json:"threadId"`
	TurnID         string         `json:"turnId"`
	ExpectedTurnID string         `json:"expectedTurnId"`
	LastTurnID     string         `json:"lastTurnId"`
	Cwd            string         `json:"cwd"`
	BeforeTurnID   string         `json:"beforeTurnId"`
	NumTurns       int            `json:"numTurns"`
	Name           string         `json:"name"`
	ClientID       string         `json:"clientUserMessageId"`
	Caps           capabilities   `json:"capabilities"`
	Ephemeral      bool           `json:"ephemeral"`
	RequestID      jsontext.Value `json:"requestId"`
	Model          string         `json:"model"`
	Policy         jsontext.Value `json:"approvalPolicy"`
	Sandbox        string         `json:"sandbox"`
	SandboxPolicy  struct {
		Type string `json:"type"`
	} `json:"sandboxPolicy"`
	OutputSchema  jsontext.Value `json:"outputSchema"`
	Collaboration struct {
		Mode string `json:"mode"`
	} `json:"collaborationMode"`
	ProcessID string `json:"processId"`
	ItemID    string `json:"itemId"`
	CallID    string `json:"callId"` // of a tool of the client's, and its item's
	Item      struct {
		ID string `json:"id"`
	} `json:"item"`
	Server string `json:"serverName"`
	Meta   struct {
		Tool string `json:"tool_name"` // older versions do not say it
	} `json:"_meta"`
	Input []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"input"`
}

// tool is the tool call that a request is about; of a server's tool the request
// names the tool alone, or the server.
func (p *codexParams) tool() string {
	if p.ItemID != "" || p.Server == "" {
		return p.ItemID
	}
	return "mcp__" + p.Server + "__" + p.Meta.Tool
}

func (p *codexParams) text() string {
	var s strings.Builder
	for _, in := range p.Input {
		s.WriteString(in.Text)
	}
	return s.String()
}

// alters are the settings by which one request that changes some is told from
// another.
func (p *codexParams) alters() []string {
	var out []string
	if p.Model != "" {
		out = append(out, "model "+p.Model)
	}
	if p.Policy != nil && p.Policy.Kind() != 'n' {
		out = append(out, "approvalPolicy "+unquote(p.Policy))
	}
	if p.Collaboration.Mode != "" {
		out = append(out, "collaborationMode "+p.Collaboration.Mode)
	}
	return out
}

// sandboxes are the words of thread/start for those of a turn.
var sandboxes = map[string]string{"dangerFullAccess": "danger-full-access", "workspaceWrite": "workspace-write", "readOnly": "read-only"}

// sets are the settings that a request brings.
func (p *codexParams) sets() settings {
	s := settings{dir: p.Cwd, model: p.Model, sandbox: p.Sandbox, plans: p.Collaboration.Mode}
	if p.SandboxPolicy.Type != "" {
		s.sandbox = cmp.Or(sandboxes[p.SandboxPolicy.Type], p.SandboxPolicy.Type)
	}
	if p.Policy != nil && p.Policy.Kind() == '"' {
		s.asks = unquote(p.Policy)
	} else {
		s.asks = canonical(p.Policy)
	}
	return s
}

// started reads the settings among the options of a command line.
func (codexDialect) started(argv, _ []string) (s settings) {
	for i, a := range argv {
		v, ok := strings.CutPrefix(a, "--config=")
		if !ok && i > 0 && (argv[i-1] == "-c" || argv[i-1] == "--config") {
			v, ok = a, true
		}
		key, value, is := strings.Cut(v, "=")
		if !ok || !is {
			continue
		}
		switch value = strings.Trim(strings.TrimSpace(value), `"'`); strings.TrimSpace(key) {
		case "model":
			s.model = value
		case "approval_policy":
			s.asks = value
		case "sandbox_mode":
			s.sandbox = value
		}
	}
	return s
}

func (codexDialect) act(line []byte) act {
	var f codexFrame
	if len(bytes.TrimSpace(line)) == 0 {
		return act{kind: KindNote}
	}
	if decode(line, &f) != nil {
		return act{kind: KindJunk}
	}
	a := act{id: f.ID, method: f.Method, params: f.Params}
	if f.Method == "" {
		if f.ID == nil || f.Result == nil && !isError(f.Error) {
			a.kind = KindJunk
			return a
		}
		a.kind, a.answer = KindAnswer, codexAnswer(f)
		return a
	}
	var p codexParams
	_ = decode(f.Params, &p) // another form of parameters has none of these
	a.thread, a.turn, a.chose, a.caps, a.passing = p.ThreadID, p.TurnID, p.ClientID, p.Caps, p.Ephemeral
	switch f.Method {
	case "initialize", "thread/start", "thread/resume", "thread/fork":
		a.kind = KindOpen
		a.turn, a.cwd, a.sets = p.LastTurnID, p.Cwd, p.sets()
		if f.Method != "initialize" {
			a.opens = strings.TrimSpace(f.Method + " " + p.ThreadID)
		}
		if p.LastTurnID != "" {
			a.opens += " up to " + p.LastTurnID
		}
	case "thread/revert", "thread/rollback", "thread/compact/start", "thread/archive", "thread/unarchive", "thread/name/set", "thread/delete",
		"review/start", "thread/shellCommand", "thread/goal/set", "thread/goal/clear":
		a.kind, a.turn, a.text = KindSession, p.BeforeTurnID, p.Name
		if p.NumTurns > 0 {
			a.text = strconv.Itoa(p.NumTurns)
		}
	case "turn/start":
		a.kind, a.text, a.sets = KindSend, p.text(), p.sets()
		a.sets.schema = cmp.Or(canonical(p.OutputSchema), noSchema)
	case "thread/settings/update":
		a.kind, a.text, a.sets = KindSet, strings.Join(p.alters(), ", "), p.sets()
	case "turn/steer":
		a.kind, a.text, a.turn = KindSteer, p.text(), p.ExpectedTurnID
	case "turn/interrupt":
		a.kind = KindStop
	case "thread/backgroundTerminals/terminate":
		a.kind, a.names = KindTask, p.ProcessID
	default:
		a.kind = KindRead
		if f.ID == nil {
			a.kind = KindNote
		}
	}
	return a
}

// codexAnswer is what a reply decides, whatever kind of request it answers.
func codexAnswer(f codexFrame) answer {
	if f.Result == nil {
		return answer{decision: Failed}
	}
	var r struct {
		Decision    jsontext.Value `json:"decision"`
		Action      string         `json:"action"`
		Content     jsontext.Value `json:"content"`
		Permissions jsontext.Value `json:"permissions"`
		Answers     jsontext.Value `json:"answers"`
		Scope       string         `json:"scope"`
		Meta        struct {
			Persist string `json:"persist"`
		} `json:"_meta"`
	}
	_ = decode(f.Result, &r) // what is not of these forms is compared as a value
	var word string
	_ = decode(r.Decision, &word)
	switch {
	case word == "accept" || word == "acceptForSession" || r.Decision.Kind() == '{' || r.Action == "accept":
		scope := r.Meta.Persist
		switch {
		case word == "acceptForSession":
			scope = session
		case r.Decision.Kind() == '{':
			scope = always
		}
		return answer{decision: Allow, value: content0(r.Content), scope: scope}
	case word == "decline" || r.Action == "decline":
		return answer{decision: Deny}
	case word == "cancel" || r.Action == "cancel":
		return answer{decision: Cancel}
	case r.Decision != nil:
		return answer{decision: Failed} // the runtime fails the item
	case r.Answers != nil && sameJSON(r.Answers, jsontext.Value("{}")):
		return answer{decision: Deny} // nobody answered
	case r.Permissions != nil:
		if sameJSON(r.Permissions, jsontext.Value("{}")) {
			return answer{decision: Deny}
		}
		if r.Scope != session {
			r.Scope = ""
		}
		return answer{decision: Allow, scope: r.Scope}
	}
	return answer{decision: Value, value: f.Result}
}

func (codexDialect) said(line []byte) said {
	var f codexFrame
	if decode(line, &f) != nil {
		return said{}
	}
	switch {
	case f.Method == "":
		return said{reply: f.ID}
	case f.ID != nil:
		var p codexParams
		_ = decode(f.Params, &p) // another form of parameters names no thread
		return said{asks: f.ID, input: f.Params, asked: f.Method, method: f.Method, thread: p.ThreadID, tool: p.tool(), call: p.CallID}
	case f.Method == "item/completed":
		var p codexParams
		_ = decode(f.Params, &p)
		return said{method: f.Method, ends: p.Item.ID}
	case f.Method == "serverRequest/resolved":
		var p codexParams
		_ = decode(f.Params, &p)
		return said{drops: p.RequestID, method: f.Method}
	}
	s := said{method: f.Method}
	if turn := map[string]int{"turn/started": 1, "turn/completed": -1}[f.Method]; turn != 0 {
		var p codexParams
		_ = decode(f.Params, &p)
		s.turn, s.thread = turn, p.ThreadID
	}
	return s
}

func (codexDialect) same(rec, sub *act, tr func(string) string) bool {
	if rec.kind != sub.kind || rec.method != sub.method || rec.text != sub.text || rec.passing != sub.passing {
		return false
	}
	return tr(rec.thread) == sub.thread && tr(rec.turn) == sub.turn && rec.names == sub.names
}

func (codexDialect) idMember() []string { return []string{"id"} }

// refuse gives the runtime's own words where it is known to have some.
func (codexDialect) refuse(a *act, why string) []byte {
	if a.id == nil || a.kind == KindAnswer {
		return nil
	}
	switch {
	case why == notInitialized:
	case a.kind == KindStop:
		why = "no active turn to interrupt"
	case a.kind == KindSteer:
		why = "no active turn to steer"
	case a.method == "thread/resume" || a.method == "thread/fork":
		why = "no rollout found for thread id " + a.thread
	}
	text, err := json.Marshal(why, asItCame)
	if err != nil {
		text = []byte(`"refused"`)
	}
	return fmt.Appendf(nil, `{"error":{"code":-32600,"message":%s},"id":%s}`, text, a.id)
}

func (codexDialect) result(a *act, result jsontext.Value) []byte {
	return fmt.Appendf(nil, `{"id":%s,"result":%s}`, a.id, result)
}

func (codexDialect) fail(a *act, e jsontext.Value) []byte {
	return fmt.Appendf(nil, `{"error":%s,"id":%s}`, e, a.id)
}

func (codexDialect) setting(jsontext.Value) string { return "" }

func (codexDialect) version(v string) string { return "codex-cli " + v }
func (codexDialect) mustInitialize() bool    { return true }
func (codexDialect) closesAtOnce() bool      { return true }

func (codexDialect) wants(s *said, l *launch) bool {
	if s.method == "thread/readState/changed" && !l.caps.Experimental {
		return false
	}
	return s.method == "" || s.asks != nil || !slices.Contains(l.caps.OptOut, s.method)
}

func (codexDialect) extras(*said) []string               { return nil }
func (codexDialect) gets(string, []string, *launch) bool { return true }
func (codexDialect) mode([]string) string                { return "" }
func (codexDialect) modeMember([]byte) (span, bool)      { return span{}, false }

func (codexDialect) onSignal(s string) (int, bool) { return 0, s != "SIGTERM" }

func (codexDialect) waitsFor(string) bool { return false }

func (codexDialect) input(*launch, []byte) ([]byte, bool) { return nil, false }
