package drive

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// claudeAsk is a question of the runtime.
type claudeAsk struct {
	id, tool, name string
	input          jsontext.Value
	suggestions    jsontext.Value
	elicits        bool // an MCP server asks
}

// claudeDecision answers a question of the runtime.
type claudeDecision struct {
	Behavior    string         `json:"behavior"`
	Input       jsontext.Value `json:"updatedInput,omitzero"`
	Permissions jsontext.Value `json:"updatedPermissions,omitempty"`
	Message     string         `json:"message,omitempty"`
	Interrupt   bool           `json:"interrupt,omitzero"`
}

type claudeResponse struct {
	Subtype  string          `json:"subtype"`
	ReqID    string          `json:"request_id"`
	Response *claudeDecision `json:"response,omitempty"`
	Error    string          `json:"error,omitempty"`
}

func (c *claude) answer(a fixtures.Step) error {
	from := &c.asks
	if a.Late {
		from = &c.closed
	}
	i := slices.IndexFunc(*from, func(q claudeAsk) bool { return a.ID == "" || q.tool == a.ID })
	if i < 0 {
		return errors.New("no such question is there to answer: `wait ask` first")
	}
	ask := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	if ask.elicits {
		return c.respond(ask.id, elicited(a))
	}
	r := claudeResponse{Subtype: "success", ReqID: ask.id}
	if a.What == fixtures.AnswerError {
		r.Subtype, r.Error = "error", "the user could not be asked"
	} else {
		d, err := ask.decide(a)
		if err != nil {
			return err
		}
		r.Response = &d
	}
	return c.write(struct {
		Type     string         `json:"type"`
		Response claudeResponse `json:"response"`
	}{"control_response", r})
}

func (q *claudeAsk) decide(a fixtures.Step) (claudeDecision, error) {
	var err error
	d := claudeDecision{Behavior: "allow", Input: q.input}
	switch a.What {
	case fixtures.AnswerAllow:
		if a.Value != nil {
			d.Input, err = changed(q.input, a.Value)
		}
	case fixtures.AnswerSession:
		d.Permissions, err = q.forSession()
	case fixtures.AnswerAlways:
		d.Permissions = q.suggestions
	case fixtures.AnswerDeny, fixtures.AnswerCancel:
		d = claudeDecision{Behavior: "deny", Message: "The user said no.", Interrupt: a.What == fixtures.AnswerCancel}
		if a.Text != "" {
			d.Message = a.Text
		}
	case fixtures.AnswerWrong:
		d = claudeDecision{Behavior: "approve"}
	case fixtures.AnswerValue:
		d.Input, err = q.answers(a.Value)
	}
	return d, err
}

// changed is the input with some members replaced.
func changed(input, members jsontext.Value) (jsontext.Value, error) {
	var all, these map[string]jsontext.Value
	if err := errors.Join(json.Unmarshal(input, &all, asItCame), json.Unmarshal(members, &these, asItCame)); err != nil {
		return nil, err
	}
	maps.Copy(all, these)
	return json.Marshal(all, json.Deterministic(true))
}

// forSession are the runtime's own suggestions, for this session only.
func (q *claudeAsk) forSession() (jsontext.Value, error) {
	var all []map[string]jsontext.Value
	if err := json.Unmarshal(q.suggestions, &all, asItCame); err != nil || len(all) == 0 {
		return nil, fmt.Errorf("the runtime suggests nothing that would hold for the session: %w", err)
	}
	for _, s := range all {
		s["destination"] = jsontext.Value(`"session"`)
	}
	return json.Marshal(all, json.Deterministic(true))
}

// answers fills in a question's answers: by the question's text, several of
// them in one string.
func (q *claudeAsk) answers(v jsontext.Value) (jsontext.Value, error) {
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
	return changed(q.input, jsontext.Value(`{"answers":`+string(b)+`}`))
}

// claudeModes are the runtime's names of the modes that scenarios name; another
// name is passed on.
var claudeModes = map[string]string{
	"ask": "default", "accept-edits": "acceptEdits", "plan": "plan", "dont-ask": "dontAsk", "never": "bypassPermissions",
}

func (c *claude) set(what, value string, refused bool) error {
	var r any = struct {
		Subtype string `json:"subtype"`
		Model   string `json:"model"`
	}{"set_model", value}
	if what == "mode" {
		if theirs := claudeModes[value]; theirs != "" {
			value = theirs
		}
		r = struct {
			Subtype string `json:"subtype"`
			Mode    string `json:"mode"`
		}{"set_permission_mode", value}
	}
	if err := mustRefuse(c.call(r), refused); err != nil || refused || what != "mode" {
		return err
	}
	// The line that tells the mode comes after the reply.
	return c.d.until("the mode to be "+value, func() bool { return c.mode == value })
}

// errRefused: the runtime answered with an error.
var errRefused = errors.New("the runtime refused")

// mustRefuse is the outcome of a request that the runtime must refuse, or must
// take.
func mustRefuse(err error, want bool) error {
	switch {
	case want && err == nil:
		return errors.New("the runtime was to refuse it, and took it")
	case want && errors.Is(err, errRefused):
		return nil
	}
	return err
}
