package acp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// question is a request of the agent that waits for an answer.
type question struct {
	id      string // in events
	rpc     jsontext.Value
	call    string // the tool call, of a permission
	asker   string // the tool call that asks, of a form
	options []option
	form    *form // the answer is its content; nil: one of the options
	judging session.Judging
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
		t.notice(event.LevelWarning, event.NoticeUnknownMessage, string(t.m.Method)+" is not supported and was refused", b)
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
		t.notice(event.LevelWarning, event.NoticeLate, string(t.m.Method)+" of a turn that does not run was cancelled", b)
		return nil
	}
	// Agents count requests from 0 in each process. The turn makes the id unique.
	q.id = fmt.Sprintf("%d.%s", sc.Turn(), strings.Trim(string(q.rpc), `"`))
	t.asked = append(t.asked, q)
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
		sc.Interrupt(event.Interrupt{InterruptID: q.id, ComponentName: c.toolName(), Surface: "chat", Props: inputOf(c.input)})
		return
	}
	d := event.PermissionRequest{RequestID: q.id, ToolUseID: q.call, ToolName: c.toolName(), ToolInput: c.start().Input}
	for _, o := range p.Options {
		d.Options = append(d.Options, string(o.ID))
	}
	sc.Permission(d)
	if t.live != nil && t.live.o.Judge != nil {
		t.live.judge(q, c, d)
	}
}

// askForm handles a form that the user is to fill in.
func (t *translator) askForm(b []byte) {
	f := lenient.Decode[form](t.m.Params)
	q := t.newQuestion(&f, b)
	if q == nil {
		return
	}
	t.l.Turn().Interrupt(event.Interrupt{InterruptID: q.id, ComponentName: "elicitation", Surface: "chat", Props: inputOf(t.m.Params)})
}

func (t *translator) find(id string) *question {
	for _, q := range t.asked {
		if q.id == id {
			return q
		}
	}
	return nil
}

func (t *translator) drop(q *question) {
	t.asked = slices.DeleteFunc(t.asked, func(x *question) bool { return x == q })
	q.judging.Stop()
}

// callResolved settles the questions about a call that has a result, and reports whether it
// was denied. A transcript holds no answer: a call that failed was denied.
func (t *translator) callResolved(c *toolCall, failed bool) (denied bool) {
	for _, q := range slices.Clone(t.asked) {
		if q.call != c.id || q.call == "" {
			continue
		}
		t.drop(q)
		switch {
		case t.live != nil:
			t.live.answerRequest(q.rpc, q.cancelled())
			t.l.Resolve(q.id, event.DecisionCancel, event.ByWithdrawn, nil)
		case failed:
			t.l.Resolve(q.id, event.DecisionDeny, event.ByUser, nil)
			return true
		default:
			t.l.Resolve(q.id, event.DecisionAllow, event.ByUser, nil)
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
	answer := func() { reply(c.answer(id, an)) }
	if q := c.t.find(id); q != nil && q.judging.Hold(answer) {
		return
	}
	answer()
}

// answer answers an open question.
func (c *client) answer(id string, an adapters.Answer) error {
	q := c.t.find(id)
	if q == nil {
		return fmt.Errorf("%w: %q", adapters.ErrUnknownID, id)
	}
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
		c.t.drop(q)
		c.t.stopped = true
		c.notify("session/cancel", sessionParams{c.t.session})
		c.answerRequest(q.rpc, q.cancelled())
	default:
		c.t.drop(q)
		if !ok {
			c.answerRequest(q.rpc, q.cancelled())
			break
		}
		c.answerRequest(q.rpc, permissionResult{outcome{"selected", optionID}})
	}
	if call := c.t.call(q.call); call != nil && decision == event.DecisionDeny {
		call.denied = true
	}
	c.t.l.Resolve(id, decision, an.By, event.Raw(`"`+string(decision)+`"`)) // of the approval of a plan
	return nil
}

// judge lets the Judge answer a permission. The user's answer is held back until then.
func (c *client) judge(q *question, call *toolCall, d event.PermissionRequest) {
	about := adapters.Call{Tool: d.ToolName, Input: call.judgedInput(), Dir: c.dir}
	q.judging.Start(c.host, func(ctx context.Context) adapters.Verdict { return c.o.Judge.Decide(ctx, about) }, func(v adapters.Verdict) {
		decision := event.DecisionDeny
		switch v.Effect {
		case adapters.EffectAllow:
			decision = event.DecisionAllow
		case adapters.EffectDeny:
		default:
			return
		}
		if err := c.answer(q.id, adapters.Answer{Decision: decision, By: event.ByPolicy}); err != nil {
			// The agent offers no such option, so the call must not run.
			_ = c.answer(q.id, adapters.Answer{Decision: event.DecisionDeny, By: event.ByPolicy})
		}
	})
}
