package opencode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// members are those of an event that only the client needs. The rest is read by package
// fixtures/wire/opencode.
type members struct {
	Info struct {
		ID   string `json:"id"`
		Time struct {
			Completed int64 `json:"completed"`
		} `json:"time"`
	} `json:"info"`
	Questions []struct {
		Question string `json:"question"`
	} `json:"questions"`
}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	l := c.d.Runtime.Wire.ReadOutput(b)
	switch {
	case !jsontext.Value(b).IsValid(wire.AsWritten):
		c.d.Fail(fmt.Errorf("a line of the server is not JSON: %.300s", b))
	case l.Name == "ready":
		c.ready = true
	case l.Kind == wire.Reply:
		c.readReply(l)
	case c.aside != "" && l.Session == c.aside && l.Kind != wire.Delta && l.Method != "session.created":
		if l.Kind == wire.TurnEnd {
			for _, m := range c.asides {
				m.ended = true
			}
		}
	default:
		var m members
		if err := wire.Decode(l.Params, &m); l.Params != nil && err != nil {
			c.d.Fail(fmt.Errorf("an event has a form that the client does not know: %w: %.300s", err, b))
			return
		}
		c.readEvent(l, &m)
	}
}

func (c *client) readReply(l wire.Line) {
	sent := c.calls[string(l.RepliesTo)]
	if sent == nil {
		return
	}
	sent.done = true
	if l.Failed {
		sent.err = drive.Refusef("the runtime refused: %s%s", strings.Join(l.Errors, "; "), l.Error)
	}
	delete(c.calls, string(l.RepliesTo))
	switch {
	case l.Opened == "":
	case sent.aside:
		c.aside = l.Opened
	case l.Opened != c.session:
		if c.session = l.Opened; !slices.Contains(c.sessions, l.Opened) {
			c.sessions = append(c.sessions, l.Opened)
		}
	}
}

func (c *client) readEvent(l wire.Line, m *members) {
	main := l.Session == c.session
	switch l.Name {
	case "server.connected":
		c.stream = true
	case "session.status(retry)":
		if main {
			c.retries++
			clear(c.unsettled)
		}
	case "session.diff":
		c.summarized = true
	}
	switch l.Method {
	case "session.created":
		c.created[l.Session] = true
	case "session.status":
		c.busy = c.busy || main && l.Name != "session.status(idle)"
	case "message.updated":
		c.readMessage(l, m)
	case "message.part.updated":
		c.readPart(l)
	}
	switch l.Kind {
	case wire.TurnEnd:
		if main {
			c.summarized = false
			c.endTurn()
		}
	case wire.Delta:
		t := c.texts[l.Session]
		if t == nil {
			t = &drive.Text{}
			c.texts[l.Session] = t
		}
		if c.reasoning[l.Piece.Block] {
			t.Think.WriteString(l.Piece.Text)
		} else {
			t.Text.WriteString(l.Piece.Text)
		}
	case wire.Request:
		q := question{id: wire.Unquote(l.ID), tool: c.d.Runtime.Wire.ScenarioCall(l.Asked.Tool), permission: l.Method == "permission.asked"}
		for _, asked := range m.Questions {
			q.questions = append(q.questions, asked.Question)
		}
		c.open = append(c.open, q)
		if s, ok := c.d.Judge(q.tool); ok && q.permission {
			c.d.Fail(c.answerQuestion(s))
		}
	case wire.Withdrawal:
		if i := slices.IndexFunc(c.open, func(q question) bool { return q.id == wire.Unquote(l.RepliesTo) }); i >= 0 {
			c.closed = append(c.closed, c.open[i])
			c.open = slices.Delete(c.open, i, i+1)
		}
	}
}

// readMessage handles a message that has come or changed.
func (c *client) readMessage(l wire.Line, m *members) {
	if l.Session != c.session {
		return
	}
	if !l.Echo {
		if l.Message != "" {
			c.replies[l.Message] = m.Info.Time.Completed != 0
		}
		return
	}
	if c.users[m.Info.ID] {
		return
	}
	c.users[m.Info.ID] = true
	for _, s := range c.sent {
		if !s.taken && !s.ended {
			s.taken, s.wire = true, m.Info.ID
			return
		}
	}
}

func (c *client) readPart(l wire.Line) {
	if l.Type == "reasoning" {
		c.reasoning[l.Item] = true
	}
	switch {
	case l.Item == "": // of no message of the model, or without an end
		return
	case l.Call == "":
		c.settle(l.Item, l.Speech)
		return
	}
	c.settle(l.Item, !strings.HasSuffix(l.Name, "/pending"))
	id := c.d.Runtime.Wire.ScenarioCall(l.Call)
	for _, t := range l.Tools {
		c.tools[id] = true
		c.results[id] = c.results[id] || t.Ends
		c.outputs[id] = c.outputs[id] || !t.Ends && l.Type == "bash" && slices.ContainsFunc(l.Printed, func(text string) bool { return text != "" })
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
func (c *client) Answer(ctx context.Context, s fixtures.Step) error {
	if s.What != fixtures.AnswerCancel {
		return c.answerQuestion(s)
	}
	// No answer stops the turn.
	s.What = fixtures.AnswerDeny
	return errors.Join(c.answerQuestion(s), c.Stop(ctx))
}

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
	return !c.busy && !c.compacts && len(c.calls) == 0 && !c.expects() && !slices.ContainsFunc(c.asides, func(m *message) bool { return !m.ended })
}

// Texts implements drive.Client.
func (c *client) Texts() []*drive.Text {
	out := []*drive.Text{{}}
	for _, t := range c.texts {
		out = append(out, t)
	}
	return out
}
