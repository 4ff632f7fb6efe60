package perform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

var errNoQuestion = fmt.Errorf("%w: no such permission_request and no such interrupt is there to answer", errNotStarted)

// question is a permission_request or an interrupt of the subject.
type question struct {
	id, tool  string
	interrupt bool
	input     jsontext.Value
	closed    bool
}

// findQuestion finds the question that an answer or a wait names.
func (d *director) findQuestion(s fixtures.Step) (question, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.question(s)
}

// question returns the oldest open question about the step's tool call; for a late
// answer, the newest closed one. It is called with the director's lock held.
func (d *director) question(s fixtures.Step) (question, bool) {
	all := questions(d.run.Events)
	if s.Late {
		slices.Reverse(all)
	}
	for _, q := range all {
		closed := q.closed || d.answered[q.id] // a slow subject reports the answer later
		if closed == s.Late && (s.ID == "" || isAbout(d.run, q, s.ID)) {
			return q, true
		}
	}
	return question{}, false
}

func questions(events []conformance.Event) []question {
	var out []question
	markClosed := func(id string) {
		for i := range out {
			out[i].closed = out[i].closed || out[i].id == id
		}
	}
	for _, e := range events {
		switch x := e.Data.(type) {
		case event.PermissionRequest:
			out = append(out, question{id: x.RequestID, tool: x.ToolUseID, input: x.ToolInput})
		case event.Interrupt:
			out = append(out, question{id: x.InterruptID, interrupt: true})
		case event.PermissionResolved:
			markClosed(x.RequestID)
		case event.InterruptResolved:
			markClosed(x.InterruptID)
		}
	}
	return out
}

// isAbout reports whether a question is about a tool call. An interrupt names no
// call: it is about every call that asks the user.
func isAbout(r *conformance.Run, q question, tool string) bool {
	if q.interrupt {
		return asksUser(r.Scenario, tool)
	}
	return scenarioCall(r, q.tool) == tool
}

// asksUser reports whether a tool call of the scenario is a question to the user
// or a plan to approve.
func asksUser(s *fixtures.Scenario, tool string) bool {
	for _, replies := range s.Model {
		for _, reply := range replies {
			for _, p := range reply.Parts {
				if p.Tool != nil && p.Tool.ID == tool {
					return p.Tool.Tool == "ask" || p.Tool.Tool == "plan"
				}
			}
		}
	}
	return false
}

// answerQuestion answers a question as a step does. An answer that decides
// nothing, or that no runtime understands, can only be written by the recording
// client; the subject denies instead, which has the same effect.
func (d *director) answerQuestion(ctx context.Context, sess adapters.Session, q question, s fixtures.Step) error {
	a := adapters.Answer{Decision: event.DecisionAllow, Message: s.Text}
	switch s.What {
	case fixtures.AnswerAllow:
		if s.Value != nil {
			in, err := withMembers(q.input, s.Value)
			if err != nil {
				return err
			}
			a.Input = in
		}
	case fixtures.AnswerSession:
		a.Scope = adapters.ScopeSession
	case fixtures.AnswerAlways:
		a.Scope = adapters.ScopeAlways
	case fixtures.AnswerValue:
		a.Value = s.Value
	case fixtures.AnswerCancel:
		a.Decision = event.DecisionCancel
	default:
		a.Decision = event.DecisionDeny
	}
	if err := sess.Answer(ctx, q.id, a); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.answered == nil {
		d.answered = map[string]bool{}
	}
	d.answered[q.id] = true
	return nil
}

// withMembers returns an object with some members replaced.
func withMembers(object, members jsontext.Value) (jsontext.Value, error) {
	var all, replace map[string]jsontext.Value
	if err := errors.Join(json.Unmarshal(object, &all), json.Unmarshal(members, &replace)); err != nil {
		return nil, err
	}
	maps.Copy(all, replace)
	return json.Marshal(all, json.Deterministic(true))
}
