package acp

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// question is a request of the agent that waits for an answer.
type question struct {
	session.Question
	rpc     jsontext.Value
	call    string // the tool call, of a permission
	asker   string // the tool call that asks, of a form
	options []option
	form    *form // the answer is its content; nil: one of the options
}

// handleRequest handles a request of the agent.
func (t *translator) handleRequest(b []byte) {
	switch t.m.Method {
	case "session/request_permission":
		t.askPermission(b)
	case "elicitation/create":
		t.askForm(b)
	default:
		if t.live != nil {
			if t.live.serveRequest(string(t.m.Method), t.m.ID.Clone(), t.m.Params.Clone()) {
				return
			}
			t.live.refuseRequest(t.m.ID.Clone(), codeMethodNotFound, "not supported by this client")
		}
		if isIgnored(kindMethod, string(t.m.Method)) {
			return
		}
		t.l.Notice(event.LevelWarning, event.NoticeUnknownMessage, string(t.m.Method)+" is not supported and was refused", b)
	}
}

// newQuestion returns the question of the line. If no turn runs, it answers the question and
// returns nil: a question of a turn that has ended must never be granted.
func (t *translator) newQuestion(f *form, b []byte) *question {
	q := &question{rpc: t.m.ID.Clone(), form: f, asker: string(lenient.Decode[params](t.m.Params).ToolCallID)}
	sc := t.l.Turn()
	p := lenient.Decode[params](t.m.Params)
	call := cmp.Or(p.ToolCallID, lenient.Decode[update](p.ToolCall).ToolCallID)
	if sc == nil && t.live == nil && (f == nil || call != "") && !t.endedCall[string(call)] {
		sc = t.scope("a question", b)
	}
	if sc == nil || t.stopped && t.live != nil {
		if t.live != nil {
			t.live.answerRequest(q.rpc, q.cancelled())
		}
		t.l.Notice(event.LevelWarning, event.NoticeLate, string(t.m.Method)+" of a turn that does not run was cancelled", b)
		return nil
	}
	// Agents count requests from 0 in each process. The turn makes the id unique.
	q.ID = fmt.Sprintf("%d.%s", sc.Turn(), strings.Trim(string(q.rpc), `"`))
	t.questions = append(t.questions, q)
	return q
}

func (t *translator) askPermission(b []byte) {
	q := t.newQuestion(nil, b)
	if q == nil {
		return
	}
	p := lenient.Decode[params](t.m.Params)
	u := lenient.Decode[update](p.ToolCall)
	q.call, q.options = string(u.ToolCallID), p.Options
	sc := t.l.Turn()
	c := t.call(q.call)
	if q.call != "" && !t.endedCall[q.call] {
		c = t.merge(&u)
		t.startTool(sc, c)
	}
	if c == nil {
		c = &toolCall{id: q.call, title: string(u.Title), kind: string(u.ToolKind), input: u.RawInput}
	}
	if c.kind == "switch_mode" { // the end of planning: the user approves the plan
		sc.Interrupt(event.Interrupt{InterruptID: q.ID, ComponentName: c.toolName(), Surface: "chat", Props: inputOf(c.input)})
		return
	}
	d := event.PermissionRequest{RequestID: q.ID, ToolUseID: q.call, ToolName: c.toolName(), ToolInput: c.start().Input}
	for _, o := range p.Options {
		d.Options = append(d.Options, string(o.ID))
	}
	sc.Permission(d)
	if live := t.live; live != nil && live.o.Judge != nil {
		about := adapters.Call{Tool: d.ToolName, Input: c.judgedInput(), Dir: live.dir}
		q.Judge(live.host, live.o.Judge, about, nil, func(an adapters.Answer) {
			if live.answer(q, an) != nil { // the agent offers no such option, so the call must not run
				_ = live.answer(q, adapters.Answer{Decision: event.DecisionDeny, By: event.ByPolicy})
			}
		})
	}
}

// askForm handles a form that the user is to fill in.
func (t *translator) askForm(b []byte) {
	f := lenient.Decode[form](t.m.Params)
	q := t.newQuestion(&f, b)
	if q == nil {
		return
	}
	t.l.Turn().Interrupt(event.Interrupt{InterruptID: q.ID, ComponentName: "elicitation", Surface: "chat", Props: inputOf(t.m.Params)})
}

// cancelRequest is the notification by which an agent withdraws a request.
const cancelRequest = "$/cancel_request"

// requestWithdrawn settles the question that a request of the agent asked.
func (t *translator) requestWithdrawn(id jsontext.Value) {
	for _, q := range t.questions.All() {
		if bytes.Equal(q.rpc, id) {
			t.withdraw(q)
		}
	}
}

// withdraw settles a question that can no longer be answered.
func (t *translator) withdraw(q *question) {
	t.questions.Drop(q)
	if t.live != nil {
		t.live.answerRequest(q.rpc, q.cancelled())
	}
	t.l.Resolve(q.ID, event.DecisionCancel, event.ByWithdrawn, nil)
}

// callResolved settles the questions about a call that has a result, and reports whether it
// was denied. A transcript holds no answer: a call that failed was denied.
func (t *translator) callResolved(c *toolCall, failed bool) (denied bool) {
	for _, q := range t.questions.All() {
		if q.call != c.id || q.call == "" {
			continue
		}
		if t.live != nil {
			t.withdraw(q)
			continue
		}
		t.questions.Drop(q)
		switch {
		case failed && t.agent.rejected != nil && !t.agent.rejected(c):
			t.l.Resolve(q.ID, event.DecisionAllow, event.ByUser, nil)
		case failed:
			t.l.Resolve(q.ID, event.DecisionDeny, event.ByUser, nil)
			return true
		default:
			t.l.Resolve(q.ID, event.DecisionAllow, event.ByUser, nil)
		}
	}
	return c.denied && failed
}

// Answers to requests of the agent.
type (
	permissionResult struct {
		Outcome outcome `json:"outcome"`
	}
	outcome struct {
		Outcome  string `json:"outcome"`
		OptionID string `json:"optionId,omitempty"`
	}
	formResult struct {
		Action  string         `json:"action"`
		Content jsontext.Value `json:"content,omitzero"`
	}
)

// cancelled is the answer to a question whose turn is cancelled.
func (q *question) cancelled() any {
	if q.form != nil {
		return formResult{Action: "cancel"}
	}
	return permissionResult{outcome{Outcome: "cancelled"}}
}

// choose returns the option for a decision.
func (q *question) choose(allow bool, scope adapters.Scope) (string, bool) {
	kinds := []string{"reject_once", "reject_always"}
	switch {
	case allow && scope == adapters.ScopeOnce:
		kinds = []string{"allow_once"}
	case allow:
		kinds = []string{"allow_always"}
	}
	for _, kind := range kinds {
		for _, o := range q.options {
			session := strings.Contains(strings.ToLower(string(o.ID)), "session")
			if string(o.Kind) == kind && (!allow || scope == adapters.ScopeOnce || session == (scope == adapters.ScopeSession)) {
				return string(o.ID), true
			}
		}
	}
	return "", false
}

// Answer implements session.Protocol.
func (c *client) Answer(id string, an adapters.Answer, reply func(error)) {
	c.t.questions.Answer(id, reply, func(q *question) error { return c.answer(q, an) })
}

// answer answers an open question.
func (c *client) answer(q *question, an adapters.Answer) error {
	if q.form != nil {
		return c.answerForm(q, an)
	}
	allow := an.Decision == event.DecisionAllow
	if an.Input != nil {
		return fmt.Errorf("answer: input: %w", adapters.ErrUnsupported)
	}
	decision := event.DecisionDeny
	switch {
	case allow:
		decision = event.DecisionAllow
	case an.Decision == event.DecisionCancel:
		decision = event.DecisionCancel
	}
	optionID, ok := q.choose(allow, an.Scope)
	switch {
	case allow && !ok:
		return fmt.Errorf("answer: scope %q: %w", an.Scope, adapters.ErrUnsupported)
	case decision == event.DecisionCancel:
		c.t.questions.Drop(q)
		c.t.stopped = true
		c.notify("session/cancel", sessionParams{c.t.session})
		c.answerRequest(q.rpc, q.cancelled())
	default:
		c.t.questions.Drop(q)
		if !ok {
			c.answerRequest(q.rpc, q.cancelled())
			break
		}
		c.answerRequest(q.rpc, permissionResult{outcome{"selected", optionID}})
	}
	if call := c.t.call(q.call); call != nil && decision == event.DecisionDeny {
		call.denied = true
	}
	c.t.l.Resolve(q.ID, decision, an.By, event.Raw(`"`+string(decision)+`"`)) // of the approval of a plan
	return nil
}
