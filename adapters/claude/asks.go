package claude

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// ask is an open question of the runtime.
type ask struct {
	tool, toolUseID, sub string
	input                event.Raw
	suggestions          []jsontext.Value // rules that the runtime would keep
	interrupt            bool             // a question to the user, not a permission
	elicits              bool             // an MCP server asks it
	judged               bool             // the judge is at it, and the user's answer waits
	waits                []func()         // such answers
	unjudge              func()           // ends the judge's work
}

// questions are the tools that ask the user something, by the name of the
// component that shows it.
var questions = map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true}

// controlRequest handles what the runtime asks of its client.
func (t *translator) controlRequest(ln *line, b []byte) {
	r := ln.Request
	switch {
	case r != nil && r.Subtype == "can_use_tool":
		t.canUse(ln.RequestID, r, b)
	case r != nil && r.Subtype == "elicitation":
		t.elicit(ln.RequestID, b)
	case r != nil && t.client != nil && t.client.serve(ln.RequestID, r, b):
	case t.client != nil:
		t.client.refuse(ln.RequestID, "not supported by this client")
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRefused, Raw: clone(b),
			Text: "a request that this client does not support"})
	case r != nil && (r.Subtype == "hook_callback" || r.Subtype == "mcp_message"):
		// Between the runtime and the client of the transcript.
	default:
		t.unknown(b)
	}
}

// elicit handles a question of an MCP server to the user.
func (t *translator) elicit(requestID string, b []byte) {
	s := t.asked(requestID, nil, b)
	if s == nil {
		return
	}
	var v struct {
		Request jsontext.Value `json:"request"`
	}
	_ = json.Unmarshal(b, &v, lenient) // it was read before
	t.asks[requestID] = &ask{interrupt: true, elicits: true}
	s.Interrupt(event.Interrupt{InterruptID: requestID, ComponentName: "elicitation", Props: v.Request, Surface: "chat"})
}

func (t *translator) canUse(requestID string, r *request, b []byte) {
	s := t.asked(requestID, r, b)
	if s == nil {
		return
	}
	a := &ask{tool: string(r.ToolName), toolUseID: string(r.ToolUseID), sub: t.subOf(s), input: clone(r.Input)}
	for _, s := range r.Suggestions {
		a.suggestions = append(a.suggestions, s.Clone())
	}
	if len(a.input) == 0 {
		a.input = event.Raw("{}")
	}
	t.asks[requestID] = a
	if questions[a.tool] {
		a.interrupt = true
		s.Interrupt(event.Interrupt{InterruptID: requestID, ComponentName: a.tool, Props: a.input, Surface: "chat"})
		return
	}
	s.Permission(event.PermissionRequest{
		RequestID: requestID, ToolUseID: a.toolUseID, ToolName: a.tool, ToolInput: a.input,
		Options: options(r.Suggestions), Reason: string(r.Reason),
	})
	if t.client != nil {
		t.client.judgePermission(requestID, a)
	}
}

// asked is the scope that a question belongs to, or nil when it is none: then
// it was refused. r is nil for a question of no tool.
func (t *translator) asked(requestID string, r *request, b []byte) *ledger.Scope {
	if requestID == "" || t.asks[requestID] != nil {
		return nil
	}
	var s *ledger.Scope
	if r != nil && r.AgentID != "" {
		if a := t.agents.byTask[string(r.AgentID)]; a != nil {
			t.announce(a, "")
			s = t.l.Sub(a.id)
		}
	}
	if s == nil {
		s = t.scope(&t.ln)
	}
	if s == nil {
		if t.client != nil {
			t.client.deny(requestID, r == nil, "no turn is running")
		}
		t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRefused, Raw: clone(b),
			Text: "a permission was asked for when no turn was running: denied"})
	}
	return s
}

// options are the kinds of the runtime's suggestions, after the two that it
// always takes.
func options(suggestions []jsontext.Value) []string {
	list := []string{string(event.DecisionAllow), string(event.DecisionDeny)}
	for _, s := range suggestions {
		var v struct {
			Type text `json:"type"`
		}
		if json.Unmarshal(s, &v, lenient) == nil && v.Type != "" {
			list = append(list, string(v.Type))
		}
	}
	return list
}

// withdraw handles a question that the runtime takes back.
func (t *translator) withdraw(requestID string) {
	if t.client != nil {
		t.client.takenBack(requestID)
	}
	t.resolve(requestID, event.DecisionCancel, event.ByWithdrawn, nil)
}

// resolve closes a question and tells how.
func (t *translator) resolve(id string, d event.Decision, by event.By, value event.Raw) {
	t.forget(id)
	t.l.Resolve(id, d, by, value)
}

// forget ends a question, and the judge's work on it. Who has answered meanwhile
// is told that it is over.
func (t *translator) forget(requestID string) {
	a := t.asks[requestID]
	delete(t.asks, requestID)
	if a == nil || !a.judged {
		return
	}
	a.judged = false
	a.unjudge()
	for _, answer := range a.waits {
		answer()
	}
}

// controlResponse handles a reply to a request of ours. An echo of a reply that
// the client gave resolves the question in a transcript.
func (t *translator) controlResponse(ln *line, b []byte) {
	r := ln.Response
	switch {
	case r == nil:
		t.unknown(b)
	case t.client != nil:
		t.client.replied(r, b)
	case r.Response.Behavior == "allow", r.Response.Action == "accept":
		t.resolve(r.RequestID, event.DecisionAllow, event.ByUser, nil)
	case r.Response.Behavior == "deny", r.Response.Action == "decline", r.Response.Action == "cancel":
		if a := t.asks[r.RequestID]; a != nil {
			t.denied[within(a.sub, a.toolUseID)] = true
		}
		t.resolve(r.RequestID, event.DecisionDeny, event.ByUser, nil)
	}
}

// settle resolves a question whose tool has its result: somebody answered.
func (t *translator) settle(sub, toolUseID string, st event.ToolStatus, source string) {
	for id, a := range t.asks {
		if a.sub != sub || a.toolUseID != toolUseID || toolUseID == "" {
			continue
		}
		by := event.ByRuntime
		switch {
		case strings.HasPrefix(source, "user"):
			by = event.ByUser
		case source == "config" || source == "hook":
			by = event.ByPolicy
		}
		d := event.DecisionAllow
		switch st {
		case event.ToolDenied:
			d = event.DecisionDeny
		case event.ToolInterrupted:
			d = event.DecisionCancel
		}
		t.resolve(id, d, by, nil)
	}
}

// closeAsks answers the main agent's open questions with no: the turn ends.
func (t *translator) closeAsks() { t.closeAsksOf("") }

func (t *translator) closeAsksOf(sub string) {
	for id, a := range t.asks {
		if a.sub == sub {
			t.closeAsk(id, "the turn has ended")
		}
	}
}

func (t *translator) closeAsk(id, why string) {
	if t.client != nil {
		t.client.deny(id, t.asks[id].elicits, why)
	}
	t.resolve(id, event.DecisionCancel, event.ByRuntime, nil)
}

// verdict is the wire form of an answer.
type verdict struct {
	Behavior           string           `json:"behavior"`
	UpdatedInput       event.Raw        `json:"updatedInput,omitzero"`
	UpdatedPermissions []jsontext.Value `json:"updatedPermissions,omitempty"`
	Message            string           `json:"message,omitempty"`
	Interrupt          bool             `json:"interrupt,omitzero"`
}

const maxEcho = 64 << 10

// decide turns a client's answer into the runtime's words, and into what is
// told of it.
// Older versions insist on the input; newer ones are spared a long one.
func (a *ask) decide(an adapters.Answer, old bool) (any, event.Decision, event.Raw, error) {
	d := an.Decision
	value := an.Value
	if a.interrupt {
		if d == "" {
			d = decisionOf(value)
		}
		if value == nil {
			value = event.Raw(`"` + string(d) + `"`)
		}
	}
	switch d {
	case event.DecisionAllow:
		v := verdict{Behavior: "allow", UpdatedInput: an.Input}
		if a.tool == "AskUserQuestion" && an.Input == nil {
			v.UpdatedInput = answered(a.input, an.Value)
		}
		if v.UpdatedInput == nil && (old || len(a.input) <= maxEcho) {
			v.UpdatedInput = a.input
		}
		var err error
		v.UpdatedPermissions, err = a.rules(an.Scope)
		return v, d, value, err
	case event.DecisionCancel:
		return verdict{Behavior: "deny", Message: first(an.Message, "The user cancelled."), Interrupt: true}, d, value, nil
	}
	return verdict{Behavior: "deny", Message: first(an.Message, "The user said no.")}, event.DecisionDeny, value, nil
}

// rules are what an allow of that scope makes the runtime keep: what it suggested
// itself, for as long.
func (a *ask) rules(s adapters.Scope) ([]jsontext.Value, error) {
	if s == adapters.ScopeOnce {
		return nil, nil
	}
	if len(a.suggestions) == 0 {
		return nil, fmt.Errorf("%w: the runtime suggests no rule that would allow what is like it", adapters.ErrUnsupported)
	}
	if s == adapters.ScopeAlways {
		return a.suggestions, nil
	}
	var out []jsontext.Value
	for _, b := range a.suggestions {
		var rule map[string]jsontext.Value
		if err := json.Unmarshal(b, &rule, lenient); err != nil {
			return nil, fmt.Errorf("a suggestion of the runtime is no object: %w", err)
		}
		rule["destination"] = jsontext.Value(`"session"`)
		b, err := json.Marshal(rule, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

// decisionOf reads a decision out of an interrupt's value: false, "deny",
// {"approved":false} and {"decision":"deny"} say no; everything else is an
// answer.
func decisionOf(v event.Raw) event.Decision {
	if len(v) == 0 || v.Kind() == 'n' || v.Kind() == 'f' {
		return event.DecisionDeny
	}
	var s string
	var o struct {
		Approved *bool `json:"approved"`
		Decision text  `json:"decision"`
	}
	switch v.Kind() {
	case '"':
		_ = json.Unmarshal(v, &s, lenient)
	case '{':
		_ = json.Unmarshal(v, &o, lenient)
		s = string(o.Decision)
		if o.Approved != nil && !*o.Approved {
			s = "deny"
		}
	}
	switch event.Decision(s) {
	case event.DecisionDeny, "reject", "rejected", "denied":
		return event.DecisionDeny
	case event.DecisionCancel:
		return event.DecisionCancel
	}
	return event.DecisionAllow
}

// answered joins the questions and the answers: {"questions":…,"answers":…}.
// The value is that, or {"answers":…}, or the answers by question themselves.
func answered(props, value event.Raw) event.Raw {
	if value.Kind() != '{' {
		return nil
	}
	var v, q struct {
		Questions jsontext.Value `json:"questions"`
		Answers   jsontext.Value `json:"answers"`
	}
	if json.Unmarshal(value, &v, lenient) != nil || json.Unmarshal(props, &q, lenient) != nil {
		return nil
	}
	if v.Answers == nil {
		v.Answers = value
	}
	if v.Questions == nil {
		v.Questions = q.Questions
	}
	var b bytes.Buffer
	b.WriteString(`{"questions":`)
	b.Write(first3(v.Questions, "[]"))
	b.WriteString(`,"answers":`)
	b.Write(oneEach(v.Answers))
	b.WriteString("}")
	return event.Raw(b.Bytes())
}

// oneEach makes one string of each answer: where several options were chosen the
// runtime wants their names, joined.
func oneEach(answers jsontext.Value) jsontext.Value {
	var m map[string]jsontext.Value
	if json.Unmarshal(answers, &m, lenient) != nil {
		return answers
	}
	for k, v := range m {
		var many []string
		if json.Unmarshal(v, &many, lenient) == nil {
			m[k], _ = json.Marshal(strings.Join(many, ", "), lenient) // a string encodes
		}
	}
	b, err := json.Marshal(m, lenient, json.Deterministic(true))
	if err != nil {
		return answers
	}
	return b
}

func first3(v jsontext.Value, def string) []byte {
	if len(v) == 0 {
		return []byte(def)
	}
	return v
}
