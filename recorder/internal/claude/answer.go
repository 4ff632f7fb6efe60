package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// question is a request of the runtime that the user answers.
type question struct {
	id, tool, name string
	input          jsontext.Value
	suggestions    jsontext.Value
	elicits        bool // an MCP server asks
}

type decision struct {
	Behavior    string         `json:"behavior"`
	Input       jsontext.Value `json:"updatedInput,omitzero"`
	Permissions jsontext.Value `json:"updatedPermissions,omitempty"`
	Message     string         `json:"message,omitempty"`
	Interrupt   bool           `json:"interrupt,omitzero"`
}

// handleRequest answers a control request of the runtime, or keeps it for the
// scenario. A request that the client cannot answer gets an error reply at once,
// so that it does not block the turn.
func (c *client) handleRequest(l wire.Line) error {
	id := wire.Unquote(l.ID)
	switch l.Method {
	case "can_use_tool":
		var r struct {
			Input       jsontext.Value `json:"input"`
			Name        string         `json:"tool_name"`
			Suggestions jsontext.Value `json:"permission_suggestions"`
		}
		if err := wire.Decode(l.Params, &r); err != nil {
			break
		}
		tool := c.d.Runtime.Wire.ScenarioCall(l.Asked.Tool)
		c.open = append(c.open, question{id: id, tool: tool, name: r.Name, input: r.Input.Clone(), suggestions: r.Suggestions.Clone()})
		if s, ok := c.d.Judge(tool); ok {
			return c.answerQuestion(s)
		}
		return nil
	case "elicitation":
		c.open = append(c.open, question{id: id, elicits: true})
		return nil
	case "hook_callback":
		if l.Asked.Hook == policyHook {
			return c.judge(id, l.Asked.Tool)
		}
		if len(c.d.Scenario.Hooks) > 0 {
			return c.callHook(id, l.Asked.Hook)
		}
	case "mcp_message":
		if len(c.d.Scenario.Tools) > 0 {
			return c.handleMCP(id, l.Params)
		}
	}
	return c.refuseRequest(id, drive.NotSupported)
}

// Answer implements drive.Client.
func (c *client) Answer(_ context.Context, s fixtures.Step) error { return c.answerQuestion(s) }

func (c *client) answerQuestion(s fixtures.Step) error {
	from := &c.open
	if s.Late {
		from = &c.closed
	}
	i := slices.IndexFunc(*from, func(q question) bool { return s.ID == "" || q.tool == s.ID })
	if i < 0 {
		return errors.New("there is no such question to answer: `wait ask` first")
	}
	q := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	switch {
	case q.elicits:
		return c.respond(q.id, drive.ElicitResult(s))
	case s.What == fixtures.AnswerError:
		return c.writeResponse(response{Subtype: "error", ReqID: q.id, Error: "the user could not be asked"})
	}
	d, err := q.decide(s)
	if err != nil {
		return err
	}
	return c.writeResponse(response{Subtype: "success", ReqID: q.id, Response: d})
}

func (q *question) decide(s fixtures.Step) (decision, error) {
	var err error
	d := decision{Behavior: "allow", Input: q.input}
	switch s.What {
	case fixtures.AnswerAllow:
		if s.Value != nil {
			d.Input, err = replaceMembers(q.input, s.Value)
		}
	case fixtures.AnswerSession:
		d.Permissions, err = q.forSession()
	case fixtures.AnswerAlways:
		d.Permissions = q.suggestions
	case fixtures.AnswerDeny, fixtures.AnswerCancel:
		d = decision{Behavior: "deny", Message: cmp.Or(s.Text, "The user said no."), Interrupt: s.What == fixtures.AnswerCancel}
	case fixtures.AnswerWrong:
		d = decision{Behavior: "approve"}
	case fixtures.AnswerValue:
		d.Input, err = q.withAnswers(s.Value)
	}
	return d, err
}

// replaceMembers returns the input with some members replaced.
func replaceMembers(input, members jsontext.Value) (jsontext.Value, error) {
	var all, these map[string]jsontext.Value
	if err := errors.Join(wire.Decode(input, &all), wire.Decode(members, &these)); err != nil {
		return nil, err
	}
	maps.Copy(all, these)
	return json.Marshal(all, json.Deterministic(true))
}

// forSession returns the runtime's own suggestions, limited to this session.
func (q *question) forSession() (jsontext.Value, error) {
	var all []map[string]jsontext.Value
	if err := wire.Decode(q.suggestions, &all); err != nil || len(all) == 0 {
		return nil, fmt.Errorf("the runtime suggests no rule for the session: %w", err)
	}
	for _, s := range all {
		s["destination"] = jsontext.Value(`"session"`)
	}
	return json.Marshal(all, json.Deterministic(true))
}

// withAnswers returns the input with the answers to its questions, by the text of
// the question. Several answers to one question are joined.
func (q *question) withAnswers(v jsontext.Value) (jsontext.Value, error) {
	if q.name != "AskUserQuestion" {
		return v, nil
	}
	var given map[string]jsontext.Value
	if err := json.Unmarshal(v, &given); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for text, v := range given {
		var one string
		var many []string
		if json.Unmarshal(v, &one) != nil {
			if err := json.Unmarshal(v, &many); err != nil {
				return nil, fmt.Errorf("the answer to %q: want a string or a list of strings", text)
			}
			one = strings.Join(many, ", ")
		}
		out[text] = one
	}
	b, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return replaceMembers(q.input, jsontext.Value(`{"answers":`+string(b)+`}`))
}

func (c *client) set(_ context.Context, s fixtures.Step) error {
	value := s.ValueFor(c.d.Runtime.Wire.Name, c.d.Version)
	var r any = struct {
		Subtype string `json:"subtype"`
		Model   string `json:"model"`
	}{"set_model", value}
	if s.What == "mode" {
		value = cmp.Or(modes[value], value)
		r = struct {
			Subtype string `json:"subtype"`
			Mode    string `json:"mode"`
		}{"set_permission_mode", value}
	}
	if err := drive.CheckRefusal(c.requestControl(r), s.Refused); err != nil || s.Refused || s.What != "mode" {
		return err
	}
	// The line that reports the mode comes after the reply.
	return c.d.Until("the mode to be "+value, func() bool { return c.mode == value })
}

// A client of Claude Code sees each tool call through a hook, also those that the
// runtime does not ask about.
const (
	preToolUse = "PreToolUse"
	policyHook = "policy"
)

// judge answers the policy's hook: with a denial, or with nothing, which leaves
// the call to the mode. In a mode that denies without asking, only the hook can
// allow a call.
func (c *client) judge(id, tool string) error {
	s, ok := c.d.Judge(c.d.Runtime.Wire.ScenarioCall(tool))
	if !ok || s.Allows() && c.cfg.mode != modes["dont-ask"] {
		return c.respond(id, struct{}{})
	}
	var r struct {
		Output struct {
			Event    string `json:"hookEventName"`
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason,omitempty"`
		} `json:"hookSpecificOutput"`
	}
	r.Output.Event, r.Output.Decision, r.Output.Reason = preToolUse, s.What, s.Text
	return c.respond(id, r)
}

type response struct {
	Subtype  string `json:"subtype"`
	ReqID    string `json:"request_id"`
	Response any    `json:"response,omitzero"`
	Error    string `json:"error,omitempty"`
}

func (c *client) writeResponse(r response) error {
	return c.d.Write(struct {
		Type     string   `json:"type"`
		Response response `json:"response"`
	}{"control_response", r})
}

// respond replies to a request of the runtime, unless stdin is closed.
func (c *client) respond(id string, body any) error {
	if c.d.Closed() {
		return nil
	}
	return c.writeResponse(response{Subtype: "success", ReqID: id, Response: body})
}

func (c *client) refuseRequest(id, why string) error {
	if c.d.Closed() {
		return nil
	}
	return c.writeResponse(response{Subtype: "error", ReqID: id, Error: why})
}
