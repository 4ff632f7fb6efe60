package perform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

var errNothingAsked = fmt.Errorf("%w: no such permission_request and no such interrupt is there to answer", errNotBegun)

// question is something that the subject asked.
type question struct {
	id, tool  string
	interrupt bool
	input     jsontext.Value
	closed    bool
}

// asked finds the question that an answer or a wait means.
func (d *director) asked(act fixtures.Step) (question, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.question(act)
}

// question is the oldest one that is open (or, for a late answer, the newest
// that is not), of the tool call that the act names. It is called with the
// director's lock held.
func (d *director) question(act fixtures.Step) (question, bool) {
	all := questions(d.run.Events)
	if act.Late {
		slices.Reverse(all)
	}
	for _, q := range all {
		if q.closed == act.Late && (act.ID == "" || isAbout(d.run, q, act.ID)) {
			return q, true
		}
	}
	return question{}, false
}

func questions(events []conformance.Event) []question {
	var out []question
	close1 := func(id string) {
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
			close1(x.RequestID)
		case event.InterruptResolved:
			close1(x.InterruptID)
		}
	}
	return out
}

// isAbout reports whether a question is that of a tool call. An interrupt does
// not name one: it is told by what the tool is for.
func isAbout(r *conformance.Run, q question, tool string) bool {
	if q.interrupt {
		return asksUser(r, tool)
	}
	return q.tool == tool || strings.HasSuffix(q.tool, "_"+tool)
}

// asksUser reports whether a tool call of the scenario is a question to the user
// or a plan to approve.
func asksUser(r *conformance.Run, tool string) bool {
	for _, replies := range r.Scenario.Model {
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

// answer tells the subject what the user said. A reply that decides nothing, or
// that no runtime understands, is the recording client's alone: the subject
// denies, which is the same.
func (d *director) answer(ctx context.Context, sess conformance.Session, act fixtures.Step) error {
	q, ok := d.asked(act)
	if !ok {
		return errNothingAsked
	}
	a := conformance.Answer{Decision: event.DecisionAllow, Message: act.Text}
	switch act.What {
	case fixtures.AnswerAllow:
		if act.Value != nil {
			in, err := changed(q.input, act.Value)
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
		a.Value = act.Value
	case fixtures.AnswerCancel:
		a.Decision = event.DecisionCancel
	default:
		a.Decision = event.DecisionDeny
	}
	return sess.Answer(ctx, q.id, a)
}

// changed is an input with some members replaced.
func changed(input, members jsontext.Value) (jsontext.Value, error) {
	var all, these map[string]jsontext.Value
	if err := errors.Join(json.Unmarshal(input, &all), json.Unmarshal(members, &these)); err != nil {
		return nil, err
	}
	maps.Copy(all, these)
	return json.Marshal(all, json.Deterministic(true))
}
