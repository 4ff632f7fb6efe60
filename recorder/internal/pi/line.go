package pi

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

// members are those of a line that only the client needs. The rest is read by
// package fixtures/wire/pi.
type members struct {
	Message   jsontext.Value `json:"message"`
	Steering  []string       `json:"steering"`
	FollowUp  []string       `json:"followUp"`
	Partial   jsontext.Value `json:"partialResult"`
	Assistant struct {
		Index   int         `json:"contentIndex"`
		ID      wire.String `json:"id"`
		Partial struct {
			Content []struct {
				ID wire.String `json:"id"`
			} `json:"content"`
		} `json:"partial"`
	} `json:"assistantMessageEvent"`
}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	var m members
	if err := wire.Decode(b, &m); err != nil {
		c.d.Fail(fmt.Errorf("a line of stdout has a form that the client does not know: %w: %.300s", err, b))
		return
	}
	l := c.d.Runtime.Wire.ReadOutput(b)
	switch l.Kind {
	case wire.Reply:
		c.readReply(l)
	case wire.Request:
		c.open = append(c.open, question{wire.Unquote(l.ID), c.d.Runtime.Wire.ScenarioCall(l.Asked.Tool), l.Method})
		if s, ok := c.d.Judge(c.open[len(c.open)-1].tool); ok {
			c.d.Fail(c.answerQuestion(s))
		}
	case wire.TurnStart:
		c.running = true
	case wire.TurnEnd:
		c.endTurn()
	case wire.MessageState:
		c.queued = append(slices.Clone(m.Steering), m.FollowUp...)
	}
	switch {
	case l.Name == "message_start(user)":
		c.takeMessage(m.Message)
	case l.Name == "message_start(assistant)":
		c.streams = true
	case l.Name == "message_end(assistant)":
		c.streams = false
	case l.Name == "auto_retry_start":
		c.retries++
		c.running = true
	case l.Name == "auto_retry_end" && len(l.Errors) > 0 && wire.CompareVersions(c.d.Version, newDialect) < 0:
		c.endTurn()
	case l.Name == "compaction_start":
		c.compacts, c.began = true, true
	case l.Name == "compaction_end":
		c.compacts = false
	case l.Name == "tool_execution_update" && strings.Contains(string(m.Partial), `"text":"`) && !strings.Contains(string(m.Partial), `"text":""`):
		c.outputs[c.d.Runtime.Wire.ScenarioCall(l.Item)] = true
	}
	c.readPiece(l, m)
	for _, t := range l.Tools {
		id := c.d.Runtime.Wire.ScenarioCall(t.ID)
		if t.Ends {
			c.results[id] = true
		} else {
			c.tools[id] = true
		}
	}
}

// readPiece collects what is streamed. In the older dialect, only the snapshot of the
// message has the id of a tool call.
func (c *client) readPiece(l wire.Line, m members) {
	if l.BlockStart {
		id := m.Assistant.ID
		if at := m.Assistant.Index; id == "" && at < len(m.Assistant.Partial.Content) {
			id = m.Assistant.Partial.Content[at].ID
		}
		c.block = c.d.Runtime.Wire.ScenarioCall(string(id))
	}
	switch l.Piece.Kind {
	case wire.Text:
		c.main.Text.WriteString(l.Piece.Text)
	case wire.Thinking:
		c.main.Think.WriteString(l.Piece.Text)
	case wire.Input:
		c.inputs[c.block] = true
	}
}

func (c *client) readReply(l wire.Line) {
	id := wire.Unquote(l.RepliesTo)
	if l.Opened != "" && l.Opened != c.session {
		c.session = l.Opened
		if !slices.Contains(c.sessions, l.Opened) {
			c.sessions = append(c.sessions, l.Opened)
		}
	}
	sent := c.calls[id]
	if c.raw.Answered(id) || sent == nil {
		return
	}
	sent.done, sent.result = true, l.Result.Clone()
	if l.Failed {
		sent.err = drive.Refusef("the runtime refused: %s", strings.Join(l.Errors, "; "))
	}
	delete(c.calls, id)
}

// takeMessage handles the echo of a message: a turn has taken it.
func (c *client) takeMessage(v jsontext.Value) {
	var m struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	_ = wire.Decode(v, &m) // a message of another form has no text
	var text strings.Builder
	for _, b := range m.Content {
		text.WriteString(b.Text)
	}
	for _, s := range c.sent {
		if !s.taken && !s.ended && s.text == text.String() {
			s.taken = true
			return
		}
	}
}

func (c *client) endTurn() {
	c.running, c.open = false, nil
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
	i := slices.IndexFunc(c.open, func(q question) bool { return s.ID == "" || q.tool == s.ID })
	if i < 0 {
		return errors.New("there is no such question to answer: `wait ask` first")
	}
	q := c.open[i]
	decision := `"confirmed":false`
	switch s.What {
	case fixtures.AnswerAllow:
		if s.Value != nil {
			return c.Error("changes the input of a tool call")
		}
		decision = `"confirmed":true`
	case fixtures.AnswerValue:
		var values map[string]jsontext.Value
		if err := wire.Decode(s.Value, &values); err != nil || len(values) != 1 {
			return c.Error("gives a dialog any number of answers but one")
		}
		for _, v := range values {
			decision = `"value":` + string(v)
			if q.method == "confirm" {
				decision = `"confirmed":` + string(v)
			}
		}
	case fixtures.AnswerDeny:
		if q.method != "confirm" {
			decision = `"cancelled":true`
		}
	case fixtures.AnswerError:
		decision = `"cancelled":true`
	default:
		return c.Error("answers a question with " + s.What)
	}
	c.open = slices.Delete(c.open, i, i+1)
	return c.d.Write(jsontext.Value(fmt.Sprintf(`{"type":"extension_ui_response","id":%q,%s}`, q.id, decision)))
}

// Asks implements drive.Client.
func (c *client) Asks(tool string) bool {
	return slices.ContainsFunc(c.open, func(q question) bool { return tool == "" || q.tool == tool })
}

// Retries implements drive.Client.
func (c *client) Retries() bool { return c.retries > 0 }

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.tools[id] }

// ShowsInput implements drive.Client.
func (c *client) ShowsInput(id string) bool { return c.inputs[id] }

// ShowsOutput implements drive.Client.
func (c *client) ShowsOutput(id string) bool { return c.outputs[id] }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.results[id] }

// TaskEnded implements drive.Client. The runtime has no background work.
func (c *client) TaskEnded(string) bool { return false }

// Settled implements drive.Client.
func (c *client) Settled(holding bool) bool { return holding || !c.streams }

// Streams implements drive.Client.
func (c *client) Streams() bool { return c.streams }

// Ended implements drive.Client.
func (c *client) Ended(id string) bool {
	return slices.ContainsFunc(c.sent, func(m *message) bool { return m.id == id && m.ended })
}

// Idle implements drive.Client. Messages that an aborted turn has left in the queue stay
// there until the next message.
func (c *client) Idle() bool {
	return !c.running && !c.compacts && len(c.calls) == 0 && !c.expects()
}

// Texts implements drive.Client.
func (c *client) Texts() []*drive.Text { return []*drive.Text{&c.main} }

// Request implements drive.Client.
func (c *client) Request(r drive.Read) error {
	sent, err := c.post(r.Method, strings.TrimSuffix(strings.TrimPrefix(r.Params, "{"), "}"))
	if err != nil {
		return err
	}
	return c.d.Until("the reply to "+r.Method, func() bool { return sent.done })
}

// Fence implements drive.Client.
func (c *client) Fence() error {
	return c.Request(drive.Read{Method: "get_last_assistant_text", Params: "{}"})
}

// newDialect is the first version of the newer dialect that may be met.
const newDialect = "0.74.0"

// Reads implements drive.Client.
func (c *client) Reads() []drive.Read {
	reads := []drive.Read{
		{Method: "get_messages", Params: `{}`},
		{Method: "get_session_stats", Params: `{}`},
		{Method: "get_available_models", Params: `{}`},
		{Method: "get_commands", Params: `{}`},
		{Method: "get_fork_messages", Params: `{}`},
		{Method: "get_last_assistant_text", Params: `{}`},
		{Method: "set_thinking_level", Params: `{"level":"low"}`},
		{Method: "set_steering_mode", Params: `{"mode":"all"}`},
		{Method: "set_follow_up_mode", Params: `{"mode":"all"}`},
		{Method: "set_auto_compaction", Params: `{"enabled":false}`},
		{Method: "set_auto_retry", Params: `{"enabled":true}`},
		{Method: "abort_retry", Params: `{}`},
		{Method: "abort_bash", Params: `{}`},
		{Method: "abort", Params: `{}`},
		{Method: "set_model", Params: `{"provider":"scripted","modelId":"river-2"}`},
		{Method: "set_model", Params: `{"provider":"scripted","modelId":"river-1"}`},
		{Method: "set_session_name", Params: `{"name":"Three rivers"}`},
	}
	if wire.CompareVersions(c.d.Version, newDialect) >= 0 {
		reads = append(reads, drive.Read{Method: "get_available_thinking_levels", Params: `{}`}, drive.Read{Method: fixtures.UnknownMethod, Params: `{}`})
	}
	return reads
}
