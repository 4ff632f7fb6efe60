package codex

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

type decision struct {
	Decision any `json:"decision"`
}

type elicited struct {
	Action  string         `json:"action"`
	Content jsontext.Value `json:"content"`
	Meta    jsontext.Value `json:"_meta"`
}

type granted struct {
	Permissions jsontext.Value `json:"permissions"`
	Scope       string         `json:"scope"`
}

type answers struct {
	Answers jsontext.Value `json:"answers"`
}

var (
	null  = jsontext.Value("null")
	empty = jsontext.Value("{}")
)

// decide makes the result that tells the runtime a decision.
func (a *ask) decide(d event.Decision) any {
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
	case askOldExec, askOldPatch:
		return decision{pick("approved", "denied", "abort")}
	case askPermissions:
		if d == event.DecisionAllow {
			return granted{a.perms, "turn"}
		}
		return granted{empty, "turn"}
	case askElicitation:
		if d == event.DecisionAllow {
			return elicited{"accept", empty, null}
		}
		return elicited{pick("", "decline", "cancel"), null, null}
	case askInput:
		return answers{empty}
	}
	return decision{pick("accept", "decline", "cancel")}
}

func (t *translator) deny(a *ask) {
	if t.live != nil {
		t.live.result(a.rpc, a.decide(event.DecisionDeny))
	}
}

func (t *translator) cancel(a *ask) {
	t.live.result(a.rpc, a.decide(event.DecisionCancel))
}

// answer gives the user's answer to an open question.
func (t *translator) answer(id string, an adapters.Answer) error {
	i := slices.IndexFunc(t.asks, func(a *ask) bool { return a.id == id })
	if i < 0 {
		return fmt.Errorf("%w: %q", adapters.ErrUnknownID, id)
	}
	a := t.asks[i]
	if a.method == askInput || a.method == askElicitation && !a.asMCP {
		return t.answerInterrupt(a, an)
	}
	if len(an.Input) > 0 {
		return fmt.Errorf("%w: codex runs a tool with its own input or not at all", adapters.ErrUnsupported)
	}
	var res any
	allowed := an.Decision == event.DecisionAllow
	switch an.Decision {
	case event.DecisionAllow:
		var err error
		if res, err = a.allow(an.Scope); err != nil {
			return err
		}
	case event.DecisionDeny, event.DecisionCancel:
		res = a.decide(an.Decision)
	default:
		o := a.option(string(an.Decision))
		if o == nil {
			return fmt.Errorf("decision %q: want allow, deny, cancel or one of the request's options", an.Decision)
		}
		res, allowed = decision{o}, true
	}
	t.drop(a)
	t.live.result(a.rpc, res)
	d := an.Decision
	if allowed {
		d = event.DecisionAllow
	}
	t.l.Resolve(id, d, an.By, nil)
	return nil
}

// option finds one of the runtime's own choices, such as acceptForSession.
func (a *ask) option(s string) jsontext.Value {
	for _, o := range a.options {
		if string(o) == s || scalar(o) == s {
			return o
		}
	}
	return nil
}

func (t *translator) answerInterrupt(a *ask, an adapters.Answer) error {
	v := an.Value
	if len(v) > 0 && !v.IsValid() {
		return fmt.Errorf("value: not JSON: %.80q", v)
	}
	refused := an.Decision == event.DecisionDeny || an.Decision == event.DecisionCancel
	var res any
	switch {
	case a.method == askInput && (refused || len(v) == 0):
		res = answers{empty}
	case a.method == askInput:
		res = answers{a.filledIn(v)}
	case refused:
		res = a.decide(an.Decision)
	case len(v) == 0:
		res = elicited{"accept", empty, null}
	case read[elicited](v).Action != "":
		res = v
	default:
		res = elicited{"accept", v, null}
	}
	t.drop(a)
	t.live.result(a.rpc, res)
	if len(v) == 0 && refused {
		v = encode(an.Decision)
	}
	t.l.Resolve(a.id, event.DecisionAllow, an.By, v)
	return nil
}

// allow is the result that allows, for as long as the scope says.
func (a *ask) allow(s adapters.Scope) (any, error) {
	res := a.decide(event.DecisionAllow)
	if s == adapters.ScopeOnce {
		return res, nil
	}
	session := s == adapters.ScopeSession
	switch {
	case a.method == askElicitation:
		return elicited{"accept", empty, encode(persist{string(s)})}, nil
	case a.method == askPermissions && session:
		return granted{a.perms, string(s)}, nil
	case (a.method == askCommand || a.method == askFileChange) && session:
		return decision{"acceptForSession"}, nil
	case (a.method == askOldExec || a.method == askOldPatch) && session:
		return decision{"approved_for_session"}, nil
	case a.method == askCommand && len(a.rule) > 0 && a.rule.Kind() == '[':
		return decision{amended{amendment{a.rule}}}, nil
	}
	return nil, fmt.Errorf("%w: the runtime proposes no rule that would allow what is like it", adapters.ErrUnsupported)
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

type filled struct {
	Answers []string `json:"answers"`
}

// filledIn are the answers by the ids of a question's parts, as the runtime
// wants them. The value is that already, with or without answers around it, or
// holds a string or a list of strings by the id or by the text of each part.
func (a *ask) filledIn(v event.Raw) jsontext.Value {
	if in := read[answers](v); len(in.Answers) > 0 {
		v = in.Answers
	}
	given := read[map[string]jsontext.Value](v)
	out := map[string]jsontext.Value{}
	for _, p := range a.parts {
		x := given[string(p.ID)]
		if x == nil {
			x = given[string(p.Question)]
		}
		switch {
		case x == nil:
		case x.Kind() == '"':
			out[string(p.ID)] = encode(filled{[]string{scalar(x)}})
		case x.Kind() == '[':
			out[string(p.ID)] = encode(filled{read[[]string](x)})
		default:
			out[string(p.ID)] = x
		}
	}
	b, err := json.Marshal(out, asItCame, json.Deterministic(true))
	if err != nil {
		return empty // what was read is JSON and encodes
	}
	return b
}
