package runtime

import (
	"bytes"
	"fmt"
	"slices"
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
	ClientID       string         `json:"clientUserMessageId"`
	Caps           capabilities   `json:"capabilities"`
	RequestID      jsontext.Value `json:"requestId"`
	Input          []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"input"`
}

func (p *codexParams) text() string {
	var s strings.Builder
	for _, in := range p.Input {
		s.WriteString(in.Text)
	}
	return s.String()
}

func (codexDialect) act(line []byte) act {
	var f codexFrame
	if len(bytes.TrimSpace(line)) == 0 {
		return act{kind: KindNote}
	}
	if decode(line, &f) != nil {
		return act{kind: KindJunk}
	}
	a := act{id: f.ID, method: f.Method}
	if f.Method == "" {
		if f.ID == nil || f.Result == nil && f.Error == nil {
			a.kind = KindJunk
			return a
		}
		a.kind, a.answer = KindAnswer, codexAnswer(f)
		return a
	}
	var p codexParams
	_ = decode(f.Params, &p) // another form of parameters has none of these
	a.thread, a.turn, a.chose, a.caps = p.ThreadID, p.TurnID, p.ClientID, p.Caps
	switch f.Method {
	case "initialize", "thread/start", "thread/resume", "thread/fork":
		a.kind = KindOpen
	case "turn/start":
		a.kind, a.text = KindSend, p.text()
	case "turn/steer":
		a.kind, a.text, a.turn = KindSteer, p.text(), p.ExpectedTurnID
	case "turn/interrupt":
		a.kind = KindStop
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
	}
	_ = decode(f.Result, &r) // what is not of these forms is compared as a value
	var word string
	_ = decode(r.Decision, &word)
	switch {
	case word == "accept" || word == "acceptForSession" || r.Decision.Kind() == '{' || r.Action == "accept":
		v := r.Content
		if v != nil && (v.Kind() == 'n' || sameJSON(v, jsontext.Value("{}"))) {
			v = nil
		}
		return answer{Allow, v}
	case word == "decline" || r.Action == "decline":
		return answer{decision: Deny}
	case word == "cancel" || r.Action == "cancel":
		return answer{decision: Cancel}
	case r.Decision != nil:
		return answer{decision: Failed} // the runtime fails the item
	case r.Permissions != nil:
		if sameJSON(r.Permissions, jsontext.Value("{}")) {
			return answer{decision: Deny}
		}
		return answer{decision: Allow}
	}
	return answer{Value, f.Result}
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
		return said{asks: f.ID, input: f.Params, method: f.Method}
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
	if rec.kind != sub.kind || rec.method != sub.method || rec.text != sub.text {
		return false
	}
	return tr(rec.thread) == sub.thread && tr(rec.turn) == sub.turn
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

func (codexDialect) onSignal(s string) (int, bool) { return 0, s != "SIGTERM" }
