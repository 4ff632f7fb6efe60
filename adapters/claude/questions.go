package claude

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// question is an open question of the runtime.
type question struct {
	session.Question
	tool, toolUseID, sub string
	input                event.Raw
	suggestions          []jsontext.Value // rules that the runtime offers to store
	interrupt            bool             // a question to the user, not a permission
	elicitation          bool             // asked by an MCP server
}

// questionTools are the tools that ask the user something. Their name is the
// name of the component that shows the question.
var questionTools = map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true}

// handleControlRequest handles a request of the runtime to its client.
func (t *translator) handleControlRequest(ln *line, b []byte) {
	r := ln.Request
	switch {
	case r != nil && r.Subtype == "can_use_tool":
		t.askPermission(ln.RequestID, r, b)
	case r != nil && r.Subtype == "elicitation":
		t.askElicitation(ln.RequestID, b)
	case r != nil && t.live != nil && t.live.handleCall(ln.RequestID, r, b):
	case t.live != nil:
		t.live.refuseRequest(ln.RequestID, "not supported by this client")
		t.l.Notice(event.LevelWarning, event.NoticeRefused, "the runtime sent a request that this client does not support", b)
	case r != nil && (r.Subtype == "hook_callback" || r.Subtype == "mcp_message"):
		// Addressed to the client of the transcript, not to this one.
	default:
		t.l.Unknown(string(t.ln.Type), b)
	}
}

// askElicitation handles an MCP server's question to the user.
func (t *translator) askElicitation(requestID string, b []byte) {
	s := t.questionScope(requestID, nil, b)
	if s == nil {
		return
	}
	var v struct {
		Request jsontext.Value `json:"request"`
	}
	_ = json.Unmarshal(b, &v, lenient.Options) // the line was decoded before
	t.questions = append(t.questions, &question{Question: session.Question{ID: requestID}, interrupt: true, elicitation: true})
	s.Interrupt(event.Interrupt{InterruptID: requestID, ComponentName: "elicitation", Props: v.Request, Surface: "chat"})
}

func (t *translator) askPermission(requestID string, r *request, b []byte) {
	s := t.questionScope(requestID, r, b)
	if s == nil {
		return
	}
	a := &question{Question: session.Question{ID: requestID}, tool: string(r.ToolName), toolUseID: string(r.ToolUseID), sub: s.Subagent(), input: r.Input.Clone()}
	for _, s := range r.Suggestions {
		a.suggestions = append(a.suggestions, s.Clone())
	}
	if len(a.input) == 0 {
		a.input = event.Raw("{}")
	}
	t.questions = append(t.questions, a)
	if questionTools[a.tool] {
		a.interrupt = true
		props := a.input
		if string(props) == "{}" { // 2.1.329 asks without the plan that the model has sent
			props = event.Raw(cmp.Or(t.agents.openTools[toolKey(a.sub, a.toolUseID)].question, "{}"))
		}
		s.Interrupt(event.Interrupt{InterruptID: requestID, ComponentName: a.tool, Props: props, Surface: "chat"})
		return
	}
	s.Permission(event.PermissionRequest{
		RequestID: requestID, ToolUseID: a.toolUseID, ToolName: a.tool, ToolInput: a.input,
		Options: answerOptions(r.Suggestions), Reason: string(r.Reason),
	})
	if t.live != nil {
		t.live.judgePermission(a)
	}
}

// questionScope returns the scope of a question. If there is none, it denies
// the question and returns nil. r is nil for a question that is not about a
// tool.
func (t *translator) questionScope(requestID string, r *request, b []byte) *ledger.Scope {
	if requestID == "" || t.questions.Find(requestID) != nil {
		return nil
	}
	var s *ledger.Scope
	if r != nil && r.AgentID != "" {
		if a := t.agents.byTask[string(r.AgentID)]; a != nil {
			t.announceTask(a, "")
			s = t.l.Sub(a.id)
		}
	}
	if s == nil {
		s = t.lineScope(&t.ln)
	}
	if s == nil {
		if t.live != nil {
			t.live.denyQuestion(requestID, r == nil, "no turn is running")
		}
		t.l.Notice(event.LevelWarning, event.NoticeLate, "a question of a turn that does not run was denied", b)
	}
	return s
}

// answerOptions lists allow and deny, which the runtime always accepts, and the
// kinds of its suggestions.
func answerOptions(suggestions []jsontext.Value) []string {
	list := []string{string(event.DecisionAllow), string(event.DecisionDeny)}
	for _, s := range suggestions {
		var v struct {
			Type lenient.Str `json:"type"`
		}
		if json.Unmarshal(s, &v, lenient.Options) == nil && v.Type != "" {
			list = append(list, string(v.Type))
		}
	}
	return list
}

// withdrawQuestion handles a question that the runtime withdraws.
func (t *translator) withdrawQuestion(requestID string) {
	if t.live != nil {
		t.live.callWithdrawn(requestID)
	}
	t.resolveQuestion(t.questions.Find(requestID), event.DecisionCancel, event.ByWithdrawn, nil)
}

// resolveQuestion closes a question and emits the outcome. Nothing happens if it is not open.
func (t *translator) resolveQuestion(a *question, d event.Decision, by event.By, value event.Raw) {
	if a != nil {
		t.questions.Drop(a)
		t.l.Resolve(a.ID, d, by, value)
	}
}

// handleControlResponse handles a reply to one of our requests. In a
// transcript, an echo of the client's reply resolves the question.
func (t *translator) handleControlResponse(ln *line, b []byte) {
	r := ln.Response
	switch {
	case r == nil:
		t.l.Unknown(string(t.ln.Type), b)
	case t.live != nil:
		t.live.handleReply(r)
	case r.Response.Behavior == "allow", r.Response.Action == "accept":
		t.resolveQuestion(t.questions.Find(r.RequestID), event.DecisionAllow, event.ByUser, nil)
	case r.Response.Behavior == "deny", r.Response.Action == "decline", r.Response.Action == "cancel":
		a := t.questions.Find(r.RequestID)
		if a != nil {
			t.denied[toolKey(a.sub, a.toolUseID)] = true
		}
		t.resolveQuestion(a, event.DecisionDeny, event.ByUser, nil)
	}
}

// resolveByResult resolves a question whose tool has a result, because then it
// was answered.
func (t *translator) resolveByResult(sub, toolUseID string, st event.ToolStatus, source string) {
	for _, a := range t.questions.All() {
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
		t.resolveQuestion(a, d, by, nil)
	}
}

// cancelQuestions denies the open questions of an agent whose turn or task
// ends; "" is the main agent.
func (t *translator) cancelQuestions(sub string) {
	for _, a := range t.questions.All() {
		if a.sub == sub {
			t.cancelQuestion(a, "the turn has ended")
		}
	}
}

func (t *translator) cancelQuestion(a *question, why string) {
	if t.live != nil {
		t.live.denyQuestion(a.ID, a.elicitation, why)
	}
	t.resolveQuestion(a, event.DecisionCancel, event.ByRuntime, nil)
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

// wireVerdict returns the reply to the runtime, and the decision and value to
// emit. Older versions require the input; for newer ones a long input is
// omitted.
func (a *question) wireVerdict(an adapters.Answer, old bool) (any, event.Decision, event.Raw, error) {
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
			v.UpdatedInput = answeredInput(a.input, an.Value)
		}
		if v.UpdatedInput == nil && (old || len(a.input) <= maxEcho) {
			v.UpdatedInput = a.input
		}
		var err error
		v.UpdatedPermissions, err = a.permissionUpdates(an.Scope)
		return v, d, value, err
	case event.DecisionCancel:
		return verdict{Behavior: "deny", Message: cmp.Or(an.Message, "The user cancelled."), Interrupt: true}, d, value, nil
	}
	return verdict{Behavior: "deny", Message: cmp.Or(an.Message, "The user said no.")}, event.DecisionDeny, value, nil
}

// permissionUpdates returns the rules that an allow of that scope makes the
// runtime store: its own suggestions, with the scope's duration.
func (a *question) permissionUpdates(s adapters.Scope) ([]jsontext.Value, error) {
	if s == adapters.ScopeOnce {
		return nil, nil
	}
	if len(a.suggestions) == 0 {
		return nil, fmt.Errorf("%w: the runtime suggests no rule for similar calls", adapters.ErrUnsupported)
	}
	if s == adapters.ScopeAlways {
		return a.suggestions, nil
	}
	var out []jsontext.Value
	for _, b := range a.suggestions {
		var rule map[string]jsontext.Value
		if err := json.Unmarshal(b, &rule, lenient.Options); err != nil {
			return nil, fmt.Errorf("the runtime's suggestion is not an object: %w", err)
		}
		rule["destination"] = jsontext.Value(`"session"`)
		out = append(out, lenient.Encode(rule))
	}
	return out, nil
}

// decisionOf returns the decision that an interrupt's value expresses: false,
// "deny", {"approved":false} and {"decision":"deny"} deny; anything else is an
// answer.
func decisionOf(v event.Raw) event.Decision {
	if len(v) == 0 || v.Kind() == 'n' || v.Kind() == 'f' {
		return event.DecisionDeny
	}
	var s string
	var o struct {
		Approved *bool       `json:"approved"`
		Decision lenient.Str `json:"decision"`
	}
	switch v.Kind() {
	case '"':
		_ = json.Unmarshal(v, &s, lenient.Options)
	case '{':
		_ = json.Unmarshal(v, &o, lenient.Options)
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

// answeredInput joins questions and answers: {"questions":…,"answers":…}. The
// value is that object, or {"answers":…}, or the answers by question.
func answeredInput(props, value event.Raw) event.Raw {
	if value.Kind() != '{' {
		return nil
	}
	var v, q struct {
		Questions jsontext.Value `json:"questions"`
		Answers   jsontext.Value `json:"answers"`
	}
	if json.Unmarshal(value, &v, lenient.Options) != nil || json.Unmarshal(props, &q, lenient.Options) != nil {
		return nil
	}
	if v.Answers == nil {
		v.Answers = value
	}
	if v.Questions == nil {
		v.Questions = q.Questions
	}
	return event.Raw(`{"questions":` + cmp.Or(string(v.Questions), "[]") + `,"answers":` + string(joinAnswers(v.Answers)) + "}")
}

// joinAnswers converts each list of chosen options to one string, as the
// runtime requires.
func joinAnswers(answers jsontext.Value) jsontext.Value {
	var m map[string]jsontext.Value
	if json.Unmarshal(answers, &m, lenient.Options) != nil {
		return answers
	}
	for k, v := range m {
		var many []string
		if json.Unmarshal(v, &many, lenient.Options) == nil {
			m[k] = lenient.Encode(strings.Join(many, ", "))
		}
	}
	return lenient.Encode(m)
}
