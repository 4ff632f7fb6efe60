package codex

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// question is a request of the runtime that the user answers.
type question struct {
	id     jsontext.Value
	method string
	tool   string
	params jsontext.Value
}

const (
	askUser = "item/tool/requestUserInput" // a question to the user, which no item shows
	elicit  = "mcpServer/elicitation/request"
)

// handleRequest answers a request of the runtime, or keeps it for the scenario. A
// request that the client cannot answer gets an error reply at once, so that it
// does not block the turn.
func (c *client) handleRequest(l wire.Line) error {
	switch l.Method {
	case "item/tool/call":
		return c.handleToolCall(l)
	case "item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/permissions/requestApproval", askUser, elicit:
	default:
		return c.refuseRequest(l.ID, drive.NotSupported)
	}
	q := question{l.ID.Clone(), l.Method, "", l.Params.Clone()}
	if l.Item != "" {
		q.tool = c.d.Runtime.Wire.ScenarioCall(l.Item)
	}
	if s, ok := c.d.Judge(q.about(c.d.Scenario)); ok {
		return c.replyTo(q, s)
	}
	c.open = append(c.open, q)
	return nil
}

// about returns the tool call that a question is about. One about a tool of an MCP
// server names the tool, or in older versions only the server.
func (q *question) about(s *fixtures.Scenario) string {
	if q.tool != "" || q.method != elicit {
		return q.tool
	}
	var p struct {
		Server string `json:"serverName"`
		Meta   struct {
			Tool string `json:"tool_name"`
		} `json:"_meta"`
	}
	if wire.Decode(q.params, &p) != nil {
		return ""
	}
	for _, r := range s.Model[""] {
		for _, part := range r.Parts {
			if part.Tool == nil || part.Tool.Tool != "mcp" {
				continue
			}
			var in struct {
				Server string `json:"server"`
				Tool   string `json:"tool"`
			}
			if json.Unmarshal(part.Tool.Input, &in) == nil && in.Server == p.Server && (p.Meta.Tool == "" || p.Meta.Tool == in.Tool) {
				return part.Tool.ID
			}
		}
	}
	return ""
}

// Answer implements drive.Client.
func (c *client) Answer(_ context.Context, s fixtures.Step) error {
	from := &c.open
	if s.Late {
		from = &c.stale
	}
	i := slices.IndexFunc(*from, func(q question) bool { return s.ID == "" || q.tool == s.ID })
	if i < 0 {
		return errors.New("there is no such question to answer: `wait ask` first")
	}
	q := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	if err := c.replyTo(q, s); err != nil || !s.Late && len(c.open) == 0 || !c.cfg.resolves {
		return err
	}
	// Nothing else shows that the runtime has read the answer, so that the next
	// answer comes after it. The oldest version does not report it.
	return c.d.Until("the runtime to resolve the answered request", func() bool { return c.resolved[string(q.id)] })
}

func (c *client) replyTo(q question, s fixtures.Step) error {
	if s.What == fixtures.AnswerError {
		return c.writeError(q.id, rpcError{-32000, "the user could not be asked"})
	}
	result, err := q.answerFor(s)
	if err != nil {
		return err
	}
	return c.writeResult(q.id, result)
}

func (c *client) writeResult(id jsontext.Value, result any) error {
	return c.d.Write(struct {
		ID     jsontext.Value `json:"id"`
		Result any            `json:"result"`
	}{id, result})
}

func (c *client) writeError(id jsontext.Value, e rpcError) error {
	return c.d.Write(struct {
		ID    jsontext.Value `json:"id"`
		Error rpcError       `json:"error"`
	}{id, e})
}

func (c *client) refuseRequest(id jsontext.Value, why string) error {
	return c.writeError(id, rpcError{-32601, why})
}

// asked are the members of a question that an answer repeats.
type asked struct {
	Permissions jsontext.Value `json:"permissions"`
	Amendment   jsontext.Value `json:"proposedExecpolicyAmendment"`
	Questions   []struct {
		ID       string `json:"id"`
		Question string `json:"question"`
	} `json:"questions"`
}

// decisions are the words for the answers of scenarios.
var decisions = map[string]string{
	fixtures.AnswerAllow: "accept", fixtures.AnswerSession: "acceptForSession",
	fixtures.AnswerDeny: "decline", fixtures.AnswerCancel: "cancel", fixtures.AnswerWrong: "approve",
}

// answerFor returns the answer in the form for this kind of question.
func (q *question) answerFor(s fixtures.Step) (jsontext.Value, error) {
	if s.What == fixtures.AnswerAllow && s.Value != nil {
		return nil, errors.New("codex runs a tool with its own input or not at all")
	}
	var p asked
	if err := wire.Decode(q.params, &p); err != nil {
		return nil, err
	}
	switch q.method {
	case "item/permissions/requestApproval":
		scope := "turn"
		if s.What == fixtures.AnswerSession {
			scope = "session"
		}
		if !s.Allows() {
			p.Permissions = jsontext.Value("{}")
		}
		return jsontext.Value(fmt.Sprintf(`{"permissions":%s,"scope":%q}`, p.Permissions, scope)), nil
	case askUser:
		return p.answers(s)
	case elicit:
		return drive.ElicitResult(s), nil
	}
	switch s.What {
	case fixtures.AnswerAlways:
		if p.Amendment == nil || p.Amendment.Kind() == 'n' {
			return nil, errors.New("the runtime proposes no rule that would hold from now on")
		}
		return jsontext.Value(`{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":` + string(p.Amendment) + `}}}`), nil
	case fixtures.AnswerValue:
		return s.Value, nil
	}
	return jsontext.Value(fmt.Sprintf(`{"decision":%q}`, decisions[s.What])), nil
}

// answers returns the answers to the parts of a question, by their ids.
func (p *asked) answers(s fixtures.Step) (jsontext.Value, error) {
	given := map[string]jsontext.Value{}
	if s.What == fixtures.AnswerValue {
		if err := json.Unmarshal(s.Value, &given); err != nil {
			return nil, err
		}
	}
	type answer struct {
		Answers jsontext.Value `json:"answers"`
	}
	out := map[string]answer{}
	for _, part := range p.Questions {
		v := given[part.ID]
		if v == nil {
			v = given[part.Question]
		}
		switch {
		case v == nil:
			continue
		case v.Kind() == '"':
			v = jsontext.Value("[" + string(v) + "]")
		}
		out[part.ID] = answer{v}
	}
	b, err := json.Marshal(out, json.Deterministic(true))
	return jsontext.Value(`{"answers":` + string(b) + `}`), err
}
