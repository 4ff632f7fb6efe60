package codex

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

type decisionBody struct {
	Decision any `json:"decision"`
}

type elicitationResult struct {
	Action  string         `json:"action"`
	Content jsontext.Value `json:"content"`
	Meta    jsontext.Value `json:"_meta"`
}

type permissionsResult struct {
	Permissions jsontext.Value `json:"permissions"`
	Scope       string         `json:"scope"`
}

type inputResult struct {
	Answers jsontext.Value `json:"answers"`
}

var (
	null  = jsontext.Value("null")
	empty = jsontext.Value("{}")
)

// decisionResult returns the result that carries a decision to the runtime.
func (a *question) decisionResult(d event.Decision) any {
	pick := func(allow, deny, cancel string) string {
		switch d {
		case event.DecisionAllow:
			return allow
		case event.DecisionCancel:
			return cancel
		}
		return deny
	}
	switch a.method {
	case methodOldExec, methodOldPatch:
		return decisionBody{pick("approved", "denied", "abort")}
	case methodPermissions:
		if d == event.DecisionAllow {
			return permissionsResult{a.perms, "turn"}
		}
		return permissionsResult{empty, "turn"}
	case methodElicitation:
		if d == event.DecisionAllow {
			return elicitationResult{"accept", empty, null}
		}
		return elicitationResult{pick("", "decline", "cancel"), null, null}
	case methodUserInput:
		return inputResult{empty}
	}
	return decisionBody{pick("accept", "decline", "cancel")}
}

func (t *translator) decline(a *question) {
	if t.live != nil {
		t.live.sendResult(a.rpc, a.decisionResult(event.DecisionDeny))
	}
}

func (t *translator) cancel(a *question) {
	t.live.sendResult(a.rpc, a.decisionResult(event.DecisionCancel))
}

// answerQuestion answers an open question.
func (t *translator) answerQuestion(a *question, an adapters.Answer) error {
	if a.method == methodUserInput || a.method == methodElicitation && !a.asMCP {
		return t.answerInterrupt(a, an)
	}
	if len(an.Input) > 0 {
		return fmt.Errorf("%w: codex cannot change a tool's input", adapters.ErrUnsupported)
	}
	var res any
	allowed := an.Decision == event.DecisionAllow
	switch an.Decision {
	case event.DecisionAllow:
		var err error
		if res, err = a.allowResult(an.Scope); err != nil {
			return err
		}
	case event.DecisionDeny, event.DecisionCancel:
		res = a.decisionResult(an.Decision)
	default:
		o := a.findOption(string(an.Decision))
		if o == nil {
			return fmt.Errorf("decision %q: want allow, deny, cancel or one of the request's options", an.Decision)
		}
		res, allowed = decisionBody{o}, true
	}
	t.questions.Drop(a)
	t.live.sendResult(a.rpc, res)
	d := an.Decision
	if allowed {
		d = event.DecisionAllow
	}
	t.l.Resolve(a.ID, d, an.By, nil)
	return nil
}

// findOption returns one of the runtime's own options, such as
// acceptForSession.
func (a *question) findOption(s string) jsontext.Value {
	for _, o := range a.options {
		if string(o) == s || lenient.Text(o) == s {
			return o
		}
	}
	return nil
}

func (t *translator) answerInterrupt(a *question, an adapters.Answer) error {
	v := an.Value
	refused := an.Decision == event.DecisionDeny || an.Decision == event.DecisionCancel
	var res any
	switch {
	case a.method == methodUserInput && (refused || len(v) == 0):
		res = inputResult{empty}
	case a.method == methodUserInput:
		res = inputResult{a.fillAnswers(v)}
	case refused:
		res = a.decisionResult(an.Decision)
	case len(v) == 0:
		res = elicitationResult{"accept", empty, null}
	case lenient.Decode[elicitationResult](v).Action != "":
		res = v
	default:
		res = elicitationResult{"accept", v, null}
	}
	t.questions.Drop(a)
	t.live.sendResult(a.rpc, res)
	if len(v) == 0 && refused {
		v = lenient.Encode(an.Decision)
	}
	t.l.Resolve(a.ID, event.DecisionAllow, an.By, v)
	return nil
}

// allowResult returns the result that allows for the given scope.
func (a *question) allowResult(s adapters.Scope) (any, error) {
	res := a.decisionResult(event.DecisionAllow)
	if s == adapters.ScopeOnce {
		return res, nil
	}
	session := s == adapters.ScopeSession
	switch {
	case a.method == methodElicitation:
		return elicitationResult{"accept", empty, lenient.Encode(persist{string(s)})}, nil
	case a.method == methodPermissions && session:
		return permissionsResult{a.perms, string(s)}, nil
	case (a.method == methodCommandApproval || a.method == methodFileApproval) && session:
		return decisionBody{"acceptForSession"}, nil
	case (a.method == methodOldExec || a.method == methodOldPatch) && session:
		return decisionBody{"approved_for_session"}, nil
	case a.method == methodCommandApproval && len(a.rule) > 0 && a.rule.Kind() == '[':
		return decisionBody{amended{amendment{a.rule}}}, nil
	}
	return nil, fmt.Errorf("%w: the runtime proposes no rule for similar calls", adapters.ErrUnsupported)
}

type persist struct {
	Persist string `json:"persist"`
}

type amended struct {
	Accept amendment `json:"acceptWithExecpolicyAmendment"`
}

type amendment struct {
	Rule jsontext.Value `json:"execpolicy_amendment"`
}

type inputAnswer struct {
	Answers []string `json:"answers"`
}

// fillAnswers returns the answers by part id, as the runtime requires them. The
// value already has that form, with or without an answers member, or has a
// string or a list of strings by the id or the text of each part.
func (a *question) fillAnswers(v event.Raw) jsontext.Value {
	if in := lenient.Decode[inputResult](v); len(in.Answers) > 0 {
		v = in.Answers
	}
	given := lenient.Decode[map[string]jsontext.Value](v)
	out := map[string]jsontext.Value{}
	for _, p := range a.parts {
		x := given[string(p.ID)]
		if x == nil {
			x = given[string(p.Question)]
		}
		switch {
		case x == nil:
		case x.Kind() == '"':
			out[string(p.ID)] = lenient.Encode(inputAnswer{[]string{lenient.Text(x)}})
		case x.Kind() == '[':
			out[string(p.ID)] = lenient.Encode(inputAnswer{lenient.Decode[[]string](x)})
		default:
			out[string(p.ID)] = x
		}
	}
	return lenient.Encode(out)
}
