package drive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// codexAsk is a question of the server.
type codexAsk struct {
	id     jsontext.Value
	method string
	tool   string
	params jsontext.Value
}

func (c *codex) answer(a fixtures.Step) error {
	from := &c.asks
	if a.Late {
		from = &c.stale
	}
	i := slices.IndexFunc(*from, func(q codexAsk) bool { return a.ID == "" || q.tool == a.ID })
	if i < 0 {
		return errors.New("no such question is there to answer: `wait ask` first")
	}
	ask := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	if err := c.reply(ask, a); err != nil || !a.Late && len(c.asks) == 0 || !c.cfg.codex.resolves {
		return err
	}
	// Nothing else tells that the server has read it, and that the next answer
	// comes after it; the oldest says nothing.
	return c.d.until("the server to note the answer", func() bool { return c.noted[string(ask.id)] })
}

func (c *codex) reply(ask codexAsk, a fixtures.Step) error {
	if a.What == fixtures.AnswerError {
		return c.write(struct {
			ID    jsontext.Value `json:"id"`
			Error codexError     `json:"error"`
		}{ask.id, codexError{-32000, "the user could not be asked"}})
	}
	result, err := ask.result(a)
	if err != nil {
		return err
	}
	return c.write(struct {
		ID     jsontext.Value `json:"id"`
		Result jsontext.Value `json:"result"`
	}{ask.id, result})
}

// askInput is a question to the user, which no item shows.
const askInput = "item/tool/requestUserInput"

// codexAsked is what a question holds that an answer repeats.
type codexAsked struct {
	Permissions jsontext.Value `json:"permissions"`
	Amendment   jsontext.Value `json:"proposedExecpolicyAmendment"`
	Questions   []struct {
		ID       string `json:"id"`
		Question string `json:"question"`
	} `json:"questions"`
}

// result is what an answer says to this kind of question.
func (q *codexAsk) result(a fixtures.Step) (jsontext.Value, error) {
	if a.What == fixtures.AnswerAllow && a.Value != nil {
		return nil, errors.New("codex runs a tool with its own input or not at all")
	}
	var p codexAsked
	if err := json.Unmarshal(q.params, &p, asItCame); err != nil {
		return nil, err
	}
	switch q.method {
	case "item/permissions/requestApproval":
		scope := "turn"
		if a.What == fixtures.AnswerSession {
			scope = "session"
		}
		if !a.Allows() {
			p.Permissions = jsontext.Value("{}")
		}
		return jsontext.Value(fmt.Sprintf(`{"permissions":%s,"scope":%q}`, p.Permissions, scope)), nil
	case askInput:
		return p.answers(a)
	case "mcpServer/elicitation/request":
		return elicited(a), nil
	}
	switch a.What {
	case fixtures.AnswerAlways:
		if p.Amendment == nil || p.Amendment.Kind() == 'n' {
			return nil, errors.New("the server proposes no rule that would hold always")
		}
		return jsontext.Value(`{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":` + string(p.Amendment) + `}}}`), nil
	case fixtures.AnswerValue:
		return a.Value, nil
	}
	return jsontext.Value(fmt.Sprintf(`{"decision":%q}`, map[string]string{
		fixtures.AnswerAllow: "accept", fixtures.AnswerSession: "acceptForSession",
		fixtures.AnswerDeny: "decline", fixtures.AnswerCancel: "cancel", fixtures.AnswerWrong: "approve",
	}[a.What])), nil
}

// answers are those of a question, by the ids of its parts.
func (p *codexAsked) answers(a fixtures.Step) (jsontext.Value, error) {
	given := map[string]jsontext.Value{}
	if a.What == fixtures.AnswerValue {
		if err := json.Unmarshal(a.Value, &given); err != nil {
			return nil, err
		}
	}
	type answer struct {
		Answers jsontext.Value `json:"answers"`
	}
	out := map[string]answer{}
	for _, x := range p.Questions {
		v := given[x.ID]
		if v == nil {
			v = given[x.Question]
		}
		switch {
		case v == nil:
			continue
		case v.Kind() == '"':
			v = jsontext.Value("[" + string(v) + "]")
		}
		out[x.ID] = answer{v}
	}
	b, err := json.Marshal(out, json.Deterministic(true))
	return jsontext.Value(`{"answers":` + string(b) + `}`), err
}

// elicited answers a question of an MCP server, or about one of its tools.
func elicited(a fixtures.Step) jsontext.Value {
	switch a.What {
	case fixtures.AnswerValue:
		if _, whole := member(a.Value, "action"); whole {
			return a.Value
		}
		return jsontext.Value(`{"action":"accept","content":` + string(a.Value) + `,"_meta":null}`)
	case fixtures.AnswerSession, fixtures.AnswerAlways:
		return jsontext.Value(fmt.Sprintf(`{"action":"accept","content":{},"_meta":{"persist":%q}}`, a.What))
	case fixtures.AnswerAllow:
		return jsontext.Value(`{"action":"accept"}`)
	case fixtures.AnswerCancel:
		return jsontext.Value(`{"action":"cancel"}`)
	}
	return jsontext.Value(`{"action":"decline"}`)
}

func member(v jsontext.Value, name string) (jsontext.Value, bool) {
	var m map[string]jsontext.Value
	if json.Unmarshal(v, &m) != nil {
		return nil, false
	}
	x, ok := m[name]
	return x, ok
}
