package opencode

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// line has the members that the client needs. The rest is read by package
// fixtures/wire/opencode.
type line struct {
	ID     jsontext.Value `json:"id"`
	Ready  bool           `json:"ready"`
	Status int            `json:"status"`
	Stream bool           `json:"stream"`
	Body   jsontext.Value `json:"body"`
	Data   jsontext.Value `json:"data"`
	Error  string         `json:"error"`
}

type event struct {
	Type       string     `json:"type"`
	Properties properties `json:"properties"`
}

type properties struct {
	ID        string `json:"id"`
	Session   string `json:"sessionID"`
	PartID    string `json:"partID"`
	Delta     string `json:"delta"`
	RequestID string `json:"requestID"`
	Status    struct {
		Type string `json:"type"`
	} `json:"status"`
	Info struct {
		ID       string `json:"id"`
		Session  string `json:"sessionID"`
		ParentID string `json:"parentID"`
		Role     string `json:"role"`
		Time     struct {
			Completed int64 `json:"completed"`
		} `json:"time"`
	} `json:"info"`
	Part struct {
		ID      string `json:"id"`
		Session string `json:"sessionID"`
		Message string `json:"messageID"`
		Type    string `json:"type"`
		Call    string `json:"callID"`
		Time    struct {
			Start int64 `json:"start"`
			End   int64 `json:"end"`
		} `json:"time"`
		State struct {
			Status   string `json:"status"`
			Metadata struct {
				Output wire.String `json:"output"`
			} `json:"metadata"`
		} `json:"state"`
	} `json:"part"`
	Tool struct {
		Call string `json:"callID"`
	} `json:"tool"`
	Questions []struct {
		Question string `json:"question"`
	} `json:"questions"`
}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	var l line
	if err := wire.Decode(b, &l); err != nil {
		c.d.Fail(fmt.Errorf("a line of stdout has a form that the client does not know: %w: %.300s", err, b))
		return
	}
	switch {
	case l.Ready:
		c.ready = true
	case l.Data != nil:
		var e event
		if err := wire.Decode(l.Data, &e); err != nil {
			c.d.Fail(fmt.Errorf("an event has a form that the client does not know: %w: %.300s", err, b))
			return
		}
		c.readEvent(e)
	case l.Status != 0 && !l.Stream, l.Error != "":
		c.readReply(l)
	}
}

func (c *client) readReply(l line) {
	sent := c.calls[string(l.ID)]
	if sent == nil {
		return
	}
	sent.done, sent.body = true, l.Body.Clone()
	if l.Status >= 400 || l.Error != "" {
		sent.err = drive.Refusef("the runtime refused with %d: %s%s", l.Status, l.Error, l.Body)
	}
	delete(c.calls, string(l.ID))
	var opened struct {
		ID        string `json:"id"`
		Directory string `json:"directory"`
	}
	if wire.Decode(l.Body, &opened) != nil || opened.Directory == "" || opened.ID == "" {
		return
	}
	if sent.aside {
		c.aside = opened.ID
	} else if opened.ID != c.session {
		if c.session = opened.ID; !slices.Contains(c.sessions, opened.ID) {
			c.sessions = append(c.sessions, opened.ID)
		}
	}
}

func (c *client) readEvent(e event) {
	p := &e.Properties
	if c.aside != "" && p.Session == c.aside && e.Type != "session.created" && e.Type != "message.part.delta" {
		if e.Type == "session.idle" {
			for _, m := range c.asides {
				m.ended = true
			}
		}
		return
	}
	main := p.Session == c.session
	switch e.Type {
	case "server.connected":
		c.stream = true
	case "session.created":
		c.created[p.Session] = true
	case "session.status":
		if main {
			c.busy = c.busy || p.Status.Type != "idle"
			if p.Status.Type == "retry" {
				c.retries++
				clear(c.unsettled)
			}
		}
	case "session.idle":
		if main {
			c.summarized = false
			c.endTurn()
		}
	case "session.diff":
		c.summarized = true
	case "message.updated":
		c.readMessage(e)
	case "message.part.updated":
		c.readPart(e)
	case "message.part.delta":
		t := c.texts[p.Session]
		if t == nil {
			t = &drive.Text{}
			c.texts[p.Session] = t
		}
		if c.parts[p.PartID] == "reasoning" {
			t.Think.WriteString(p.Delta)
		} else {
			t.Text.WriteString(p.Delta)
		}
	case "permission.asked", "question.asked":
		q := question{id: p.ID, tool: c.d.Runtime.Wire.ScenarioCall(p.Tool.Call), permission: e.Type == "permission.asked"}
		for _, asked := range p.Questions {
			q.questions = append(q.questions, asked.Question)
		}
		c.open = append(c.open, q)
		if s, ok := c.d.Judge(q.tool); ok && q.permission {
			c.d.Fail(c.answerQuestion(s))
		}
	case "permission.replied", "question.replied", "question.rejected":
		if i := slices.IndexFunc(c.open, func(q question) bool { return q.id == p.RequestID }); i >= 0 {
			c.closed = append(c.closed, c.open[i])
			c.open = slices.Delete(c.open, i, i+1)
		}
	}
}

// readMessage handles a message that has come or changed.
func (c *client) readMessage(e event) {
	m := &e.Properties.Info
	c.roles[m.ID] = m.Role
	if m.Session != c.session {
		return
	}
	switch m.Role {
	case "user":
		if c.users[m.ID] {
			return
		}
		c.users[m.ID] = true
		for _, s := range c.sent {
			if !s.taken && !s.ended {
				s.taken, s.wire = true, m.ID
				return
			}
		}
	case "assistant":
		c.replies[m.ID] = m.Time.Completed != 0
	}
}

func (c *client) readPart(e event) {
	p := &e.Properties.Part
	c.parts[p.ID] = p.Type
	switch {
	case p.Type == "text" && p.Time.Start != 0, p.Type == "reasoning":
		c.settle(p.ID, p.Time.End != 0)
	case p.Type == "tool":
		c.settle(p.ID, p.State.Status != "pending")
	}
	if p.Type != "tool" {
		return
	}
	id := c.d.Runtime.Wire.ScenarioCall(p.Call)
	switch p.State.Status {
	case "running":
		c.tools[id] = true
		if p.State.Metadata.Output != "" {
			c.outputs[id] = true
		}
	case "completed", "error":
		c.tools[id], c.results[id] = true, true
	}
}

func (c *client) settle(part string, settled bool) {
	if settled {
		delete(c.unsettled, part)
	} else {
		c.unsettled[part] = true
	}
}

// endTurn handles session.idle. A turn that failed or was stopped has two: content follows
// the first, until its reply is complete.
func (c *client) endTurn() {
	for _, complete := range c.replies {
		if !complete {
			return
		}
	}
	c.busy, c.compacts, c.closed, c.open = false, false, append(c.closed, c.open...), nil
	clear(c.unsettled)
	for _, m := range c.sent {
		m.ended = m.ended || m.taken
	}
}

// Answer implements drive.Client.
func (c *client) Answer(_ context.Context, s fixtures.Step) error { return c.answerQuestion(s) }

func (c *client) answerQuestion(s fixtures.Step) error {
	open := &c.open
	if s.Late {
		open = &c.closed
	}
	i := slices.IndexFunc(*open, func(q question) bool { return s.ID == "" || q.tool == s.ID })
	if i < 0 {
		return errors.New("there is no such question to answer: `wait ask` first")
	}
	q := (*open)[i]
	path, body := "/permission/"+q.id+"/reply", map[string]any{}
	switch {
	case !q.permission && s.What == fixtures.AnswerValue:
		answers, err := answersTo(q.questions, s.Value)
		if err != nil {
			return err
		}
		path, body["answers"] = "/question/"+q.id+"/reply", answers
	case !q.permission:
		path, body = "/question/"+q.id+"/reject", nil
	case s.What == fixtures.AnswerAllow && s.Value == nil:
		body["reply"] = "once"
	case s.What == fixtures.AnswerSession:
		body["reply"] = "always"
	case s.What == fixtures.AnswerWrong:
		body["reply"] = "perhaps"
	case s.What == fixtures.AnswerDeny:
		body["reply"] = "reject"
		if s.Text != "" {
			body["message"] = s.Text
		}
	default:
		return c.Error("answers a question with " + s.What)
	}
	*open = slices.Delete(*open, i, i+1)
	if body == nil {
		_, err := c.post("POST", path, nil)
		return err
	}
	_, err := c.post("POST", path, body)
	return err
}

// answersTo returns the chosen labels of each question, from an object with the answer, or a
// list of answers, to each.
func answersTo(questions []string, value jsontext.Value) ([][]string, error) {
	var given map[string]jsontext.Value
	if err := wire.Decode(value, &given); err != nil {
		return nil, err
	}
	out := make([][]string, len(questions))
	for i, q := range questions {
		out[i] = []string{}
		if v := given[q]; v.Kind() == '[' {
			if err := wire.Decode(v, &out[i]); err != nil {
				return nil, err
			}
		} else if v != nil {
			out[i] = append(out[i], wire.Unquote(v))
		}
	}
	return out, nil
}

// Asks implements drive.Client.
func (c *client) Asks(tool string) bool {
	return slices.ContainsFunc(c.open, func(q question) bool { return tool == "" || q.tool == tool })
}

// Retries implements drive.Client.
func (c *client) Retries() bool { return c.retries > 0 }

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.tools[id] }

// ShowsInput implements drive.Client. The wire has no part of an input.
func (c *client) ShowsInput(string) bool { return true }

// ShowsOutput implements drive.Client.
func (c *client) ShowsOutput(id string) bool { return c.outputs[id] }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.results[id] }

// TaskEnded implements drive.Client. The runtime has no background work.
func (c *client) TaskEnded(string) bool { return false }

// Settled implements drive.Client. Parts that the model has ended are reported as ended later,
// some of them after a question about one of them.
func (c *client) Settled(holding bool) bool { return holding || len(c.unsettled) == 0 }

// Streams implements drive.Client.
func (c *client) Streams() bool {
	for _, complete := range c.replies {
		if !complete {
			return true
		}
	}
	return false
}

// Ended implements drive.Client.
func (c *client) Ended(id string) bool {
	ended := func(m *message) bool { return m.id == id && m.ended }
	return slices.ContainsFunc(c.sent, ended) || slices.ContainsFunc(c.asides, ended)
}

// Idle implements drive.Client.
func (c *client) Idle() bool {
	return !c.busy && !c.compacts && len(c.calls) <= 1 && !c.expects() && !slices.ContainsFunc(c.asides, func(m *message) bool { return !m.ended })
}

// Texts implements drive.Client.
func (c *client) Texts() []*drive.Text {
	out := []*drive.Text{{}}
	for _, t := range c.texts {
		out = append(out, t)
	}
	return out
}
