package opencode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/opencodecli"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// question is a permission or a question that waits for an answer.
type question struct {
	session.Question
	session    string
	call       string // the tool call that it is about
	permission string // what is asked for; "": it is a question of a tool
	questions  jsontext.Value
}

// openQuestion handles permission.asked and question.asked.
func (t *translator) openQuestion(a *agent, p properties, permission bool, b []byte) {
	q := &question{Question: session.Question{ID: string(p.ID)}, session: a.id, call: string(p.Tool.Call), questions: p.Questions.Clone()}
	if permission {
		q.permission = string(p.Permission)
	}
	sc := t.scope(a)
	if sc == nil || q.ID == "" || t.questions.Find(q.ID) != nil {
		// A question of a turn that does not run must never be granted.
		if t.live != nil && q.ID != "" && t.questions.Find(q.ID) == nil {
			t.live.reject(q, "")
		}
		t.l.Notice(event.LevelWarning, event.NoticeLate, "a question of a turn that does not run was rejected", b)
		return
	}
	t.questions = append(t.questions, q)
	if !permission {
		props := struct {
			Questions jsontext.Value `json:"questions"`
		}{p.Questions}
		sc.Interrupt(event.Interrupt{InterruptID: q.ID, ComponentName: "question", Surface: "chat", Props: lenient.Encode(props)})
		return
	}
	d := event.PermissionRequest{RequestID: q.ID, ToolUseID: q.call, ToolName: t.toolName(q.permission, &input{}), ToolInput: askedInput(&p)}
	if tool := a.tools[q.call]; tool != nil {
		d.ToolName, d.ToolInput = tool.tool, tool.input
	}
	sc.Permission(d)
	if c := t.live; c != nil && c.o.Judge != nil {
		about := adapters.Call{Tool: d.ToolName, Input: judgedInput(d), Dir: c.o.Dir}
		q.Judge(c.host, c.o.Judge, about, func() event.Decision { return c.unjudged(q.permission) }, func(an adapters.Answer) { _ = c.answer(q, an) }) // it is the first answer and has no input
	}
}

// askedInput returns the input of a call that is asked about before it is announced. OpenCode
// 1.15 names a command by its patterns alone, one for each command in it.
func askedInput(p *properties) event.Raw {
	in := opencodecli.InputOf(p.Metadata)
	if p.Permission != "bash" || len(p.Patterns) == 0 || lenient.Decode[input](p.Metadata).Command != "" {
		return in
	}
	commands := make([]string, len(p.Patterns))
	for i, c := range p.Patterns {
		commands[i] = string(c)
	}
	return lenient.Encode(struct {
		Command string `json:"command"`
	}{strings.Join(commands, "; ")})
}

// questionClosed handles the runtime's report of an answer: the client's own, that of another
// client, or one that follows from another answer.
func (t *translator) questionClosed(p properties, kind string) {
	q := t.questions.Find(string(p.RequestID))
	if q == nil {
		return
	}
	t.questions.Drop(q)
	by := event.ByRuntime
	if t.live == nil {
		by = event.ByUser
	}
	decision := event.DecisionAllow
	if p.Reply == "reject" || kind == "question.rejected" {
		decision = event.DecisionDeny
		t.markDenied(q)
	}
	t.l.Resolve(q.ID, decision, by, chosenAnswers(q.questions, p.Answers))
}

// markDenied records that a call was not allowed to run.
func (t *translator) markDenied(q *question) {
	if a := t.agents[q.session]; a != nil {
		a.denied = append(a.denied, q.call) // the call itself may come later
	}
}

// callResolved closes the questions about a call that has a result, and reports whether it
// was denied.
func (t *translator) callResolved(a *agent, tool *runningTool) bool {
	for _, q := range t.questions.All() {
		if q.call == tool.id {
			t.questions.Drop(q)
			t.l.Resolve(q.ID, event.DecisionCancel, event.ByWithdrawn, nil)
		}
	}
	return slices.Contains(a.denied, tool.id)
}

// reject denies a permission or a question.
func (c *client) reject(q *question, message string) {
	path, body := "/question/"+q.ID+"/reject", any(nil)
	if q.permission != "" {
		reply := map[string]string{"reply": "reject"}
		if message != "" {
			reply["message"] = message
		}
		path, body = "/permission/"+q.ID+"/reply", reply
	}
	c.answered(path, body)
}

func (c *client) answered(path string, body any) {
	c.send("POST", path, body, true, func(_ jsontext.Value, err error) {
		if errors.Is(err, adapters.ErrRefused) && c.t.l.Turn() != nil {
			c.t.l.Notice(event.LevelWarning, event.NoticeRefused, err.Error(), nil)
		}
	})
}

// Answer implements session.Protocol.
func (c *client) Answer(id string, an adapters.Answer, reply func(error)) {
	c.t.questions.Answer(id, reply, func(q *question) error { return c.answer(q, an) })
}

// answer answers an open question.
func (c *client) answer(q *question, an adapters.Answer) error {
	switch {
	case an.Input != nil:
		return fmt.Errorf("answer: input: %w", adapters.ErrUnsupported)
	case an.Scope == adapters.ScopeAlways:
		return fmt.Errorf("answer: scope %q: %w", an.Scope, adapters.ErrUnsupported)
	}
	denied := an.Decision == event.DecisionDeny || an.Decision == event.DecisionCancel || len(an.Value) == 0 && an.Decision != event.DecisionAllow
	decision := an.Decision
	switch {
	case q.permission == "" && !denied && len(an.Value) > 0:
		answers, err := answersOf(q.questions, an.Value)
		if err != nil {
			return err
		}
		c.t.questions.Drop(q)
		c.answered("/question/"+q.ID+"/reply", map[string]any{"answers": answers})
	case q.permission == "" || denied:
		c.t.questions.Drop(q)
		c.t.markDenied(q)
		c.reject(q, an.Message)
		if decision != event.DecisionCancel {
			decision = event.DecisionDeny
		}
	default:
		c.t.questions.Drop(q)
		word := "once"
		if an.Scope == adapters.ScopeSession {
			word = "always"
		}
		c.answered("/permission/"+q.ID+"/reply", map[string]string{"reply": word})
	}
	c.t.l.Resolve(q.ID, decision, an.By, an.Value)
	if an.Decision == event.DecisionCancel {
		c.abort()
	}
	return nil
}

// answersOf returns the chosen labels of each question, from an object with an answer, or a
// list of them, for each question.
func answersOf(questions, value jsontext.Value) ([][]string, error) {
	var given map[string]jsontext.Value
	if err := json.Unmarshal(value, &given, lenient.Options); err != nil {
		return nil, fmt.Errorf("answer: want an object with an answer for each question: %w", err)
	}
	out := [][]string{}
	for _, q := range lenient.Decode[[]struct {
		Question lenient.Str `json:"question"`
	}](questions) {
		chosen := []string{}
		switch v := given[string(q.Question)]; v.Kind() {
		case '"':
			chosen = append(chosen, string(lenient.Decode[lenient.Str](v)))
		case '[':
			for _, s := range lenient.Decode[[]lenient.Str](v) {
				chosen = append(chosen, string(s))
			}
		}
		out = append(out, chosen)
	}
	return out, nil
}

// chosenAnswers is the opposite of answersOf; nil if there are no answers.
func chosenAnswers(questions, answers jsontext.Value) event.Raw {
	chosen := lenient.Decode[[][]lenient.Str](answers)
	if len(chosen) == 0 {
		return nil
	}
	out := map[string]any{}
	for i, q := range lenient.Decode[[]struct {
		Question lenient.Str    `json:"question"`
		Multiple jsontext.Value `json:"multiple"`
	}](questions) {
		switch {
		case i >= len(chosen) || len(chosen[i]) == 0: // it was not answered
		case len(chosen[i]) == 1 && !lenient.IsTrue(q.Multiple):
			out[string(q.Question)] = string(chosen[i][0])
		default:
			labels := make([]string, len(chosen[i]))
			for k, label := range chosen[i] {
				labels[k] = string(label)
			}
			out[string(q.Question)] = labels
		}
	}
	return lenient.Encode(out)
}

// judgedInput is the input of a call in the form that policies read: a path is named
// file_path.
func judgedInput(d event.PermissionRequest) event.Raw {
	members := lenient.Decode[map[string]jsontext.Value](d.ToolInput)
	if members["filePath"] == nil {
		return d.ToolInput
	}
	members["file_path"] = members["filePath"]
	delete(members, "filePath")
	return lenient.Encode(members)
}
