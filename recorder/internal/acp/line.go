package acp

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

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	l := c.d.Runtime.Wire.ReadOutput(b)
	c.resolve(&l)
	c.retries = c.retries || c.d.Runtime.Wire.ReadStatement(b).Notice == wire.NoticeRetry
	switch {
	case l.RepliesTo != nil:
		c.readReply(l)
	case l.Kind == wire.Request:
		c.d.Fail(c.handleRequest(l))
	case strings.HasPrefix(l.Name, "session/update"):
		c.readUpdate(l)
	}
}

func (c *client) readReply(l wire.Line) {
	id := string(l.RepliesTo)
	if c.raw.Answered(id) {
		return
	}
	sent := c.calls[id]
	if sent == nil {
		return
	}
	delete(c.calls, id)
	sent.done, sent.result = true, l.Result.Clone()
	if l.Failed {
		sent.err = drive.Refusef("the agent refused: %s", strings.Join(l.Errors, "; "))
	}
	if slices.ContainsFunc(c.sent, func(m *message) bool { return m.reply == sent }) {
		c.stale = append(c.stale, c.open...)
		c.open = nil
		if i := slices.IndexFunc(c.sent, func(m *message) bool { return !m.prompted && !m.ended() }); i >= 0 {
			c.d.Fail(c.prompt(c.sent[i]))
		}
	}
}

// handleRequest answers a request of the agent, or keeps it for the scenario.
func (c *client) handleRequest(l wire.Line) error {
	if l.Asked.Calls {
		return c.d.Write(jsontext.Value(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":%q}}`, l.ID, drive.NotSupported)))
	}
	q := question{id: l.ID.Clone(), method: l.Method, tool: c.d.Runtime.Wire.ScenarioCall(l.Asked.Tool), params: l.Params.Clone()}
	var p struct {
		Options  []option `json:"options"`
		ToolCall string   `json:"toolCallId"` // of a form
	}
	_ = wire.Decode(l.Params, &p) // other questions have other parameters
	q.options = p.Options
	if q.tool == "" {
		q.tool = c.d.Runtime.Wire.ScenarioCall(p.ToolCall)
	}
	c.showsCall(l)
	if s, ok := c.d.Judge(q.tool); ok {
		return c.replyTo(q, s)
	}
	c.open = append(c.open, q)
	return nil
}

// rawInput is the input of a tool call.
type rawInput struct {
	RawInput jsontext.Value `json:"rawInput"`
}

// showsCall records that a line shows a tool call and its input.
func (c *client) showsCall(l wire.Line) {
	id := c.d.Runtime.Wire.ScenarioCall(l.Item)
	c.tools[id] = true
	var u struct {
		Update   rawInput `json:"update"`
		ToolCall rawInput `json:"toolCall"`
	}
	_ = wire.Decode(l.Params, &u) // another form has no input
	for _, in := range []jsontext.Value{u.Update.RawInput, u.ToolCall.RawInput} {
		var members map[string]jsontext.Value
		_ = wire.Decode(in, &members) // another form is no input
		delete(members, "cwd")        // with which opencode announces a command
		if len(members) > 0 {
			c.inputs[id] = true
		}
	}
}

func (c *client) readUpdate(l wire.Line) {
	c.updates++
	c.listed = c.listed || l.Name == "session/update(available_commands_update)"
	switch l.Piece.Kind {
	case wire.Text:
		c.main.Text.WriteString(l.Piece.Text)
	case wire.Thinking:
		c.main.Think.WriteString(l.Piece.Text)
	}
	if l.Item == "" {
		return
	}
	c.showsCall(l)
	id := c.d.Runtime.Wire.ScenarioCall(l.Item)
	if len(l.Printed) > 0 {
		c.outputs[id] = true
	}
	for _, t := range l.Tools {
		if t.Ends {
			c.results[id] = true
		}
	}
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
	return c.replyTo(q, s)
}

// kinds are the kinds of options for the answers of scenarios, the best first.
var kinds = map[string][]string{
	fixtures.AnswerAllow: {"allow_once"}, fixtures.AnswerSession: {"allow_always"}, fixtures.AnswerAlways: {"allow_always"},
	fixtures.AnswerDeny: {"reject_once", "reject_always"},
}

func (c *client) replyTo(q question, s fixtures.Step) error {
	switch s.What {
	case fixtures.AnswerError:
		return c.d.Write(jsontext.Value(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"the user could not be asked"}}`, q.id)))
	case fixtures.AnswerCancel:
		if err := c.d.Write(jsontext.Value(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, c.session))); err != nil {
			return err
		}
		return c.writeResult(q.id, cancelled(q.method))
	case fixtures.AnswerAllow:
		if s.Value != nil {
			return c.Error("changes the input of a tool call")
		}
	}
	if q.method == "elicitation/create" {
		return c.answerForm(q, s)
	}
	for _, kind := range kinds[s.What] {
		for _, o := range q.options {
			session := strings.Contains(strings.ToLower(o.ID), "session")
			if o.Kind == kind && (kind != "allow_always" || session == (s.What == fixtures.AnswerSession)) {
				return c.writeResult(q.id, fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%q}}`, o.ID))
			}
		}
	}
	return c.Error("answers a question with " + s.What)
}

// cancelled is the answer to a question of a turn that was stopped.
func cancelled(method string) string {
	if method == "elicitation/create" {
		return `{"action":"cancel"}`
	}
	return `{"outcome":{"outcome":"cancelled"}}`
}

func (c *client) writeResult(id jsontext.Value, result string) error {
	return c.d.Write(jsontext.Value(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)))
}

// Asks implements drive.Client.
func (c *client) Asks(tool string) bool {
	return slices.ContainsFunc(c.open, func(q question) bool { return tool == "" || q.tool == tool })
}

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.inputs[id] }

// ShowsInput implements drive.Client. Agents show the input of a call when it is whole.
func (c *client) ShowsInput(string) bool { return true }

// ShowsOutput implements drive.Client.
func (c *client) ShowsOutput(id string) bool { return c.outputs[id] }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.results[id] }

// TaskEnded implements drive.Client. No line reports it.
func (c *client) TaskEnded(string) bool { return false }

// Retries implements drive.Client. Of the agents, codex-acp reports one.
func (c *client) Retries() bool { return c.retries }

// Settled implements drive.Client. No line reports the end of a message.
func (c *client) Settled(bool) bool { return true }

// Streams implements drive.Client. No line reports that a message has begun.
func (c *client) Streams() bool { return true }

// Ended implements drive.Client.
func (c *client) Ended(id string) bool {
	return slices.ContainsFunc(c.sent, func(m *message) bool { return m.id == id && m.ended() })
}

// Idle implements drive.Client.
func (c *client) Idle() bool { return c.turnsEnded() && len(c.calls) == 0 }

// Texts implements drive.Client.
func (c *client) Texts() []*drive.Text { return []*drive.Text{&c.main} }

// Request implements drive.Client.
func (c *client) Request(r drive.Read) error {
	sent, err := c.post(r.Method, strings.NewReplacer("THREAD", c.session, "WORK", c.d.Work).Replace(r.Params))
	if err != nil {
		return err
	}
	return c.d.Until("the reply to "+r.Method, func() bool { return sent.done })
}

// Fence implements drive.Client. An agent answers a method that it does not have at once.
func (c *client) Fence() error { return c.Request(drive.Read{Method: "_turnspec/fence", Params: "{}"}) }

// Reads implements drive.Client.
func (c *client) Reads() []drive.Read {
	return []drive.Read{
		{Method: fixtures.UnknownMethod, Params: `{}`},
		{Method: "session/list", Params: `{"cwd":"WORK"}`},
		{Method: "session/load", Params: fmt.Sprintf(`{"sessionId":%q,"cwd":"WORK","mcpServers":[]}`, fixtures.UnknownSession)},
		{Method: "session/resume", Params: fmt.Sprintf(`{"sessionId":%q,"cwd":"WORK","mcpServers":[]}`, fixtures.UnknownSession)},
		{Method: "session/set_mode", Params: `{"sessionId":"THREAD","modeId":"turnspec_unknown"}`},
		{Method: "session/set_config_option", Params: `{"sessionId":"THREAD","configId":"turnspec_unknown","value":"on"}`},
	}
}
