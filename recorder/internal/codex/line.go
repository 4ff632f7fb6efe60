package codex

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// params are the members of notifications that only the client needs. The rest is
// read by package fixtures/wire/codex.
type params struct {
	Name   string         `json:"name"`
	Status jsontext.Value `json:"status"`
	Turn   struct {
		RootID string `json:"rootTurnId"`
	} `json:"turn"`
	Item struct {
		Text  string `json:"text"`
		Kind  string `json:"kind"`
		Agent string `json:"agentThreadId"`

		Tool      string   `json:"tool"`
		Receivers []string `json:"receiverThreadIds"`

		ClientID *string `json:"clientId"`
		Content  any     `json:"content"`
		// of a command; null while it waits for an answer
		Process string `json:"processId"`
	} `json:"item"`
}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	l := c.d.Runtime.Wire.ReadOutput(b)
	switch {
	case l.Kind == wire.Reply:
		c.readReply(l)
	case l.Kind == wire.Request:
		c.d.Fail(c.handleRequest(l))
	case l.Method != "":
		c.readNotification(l, c.d.Runtime.Wire.ReadStatement(b))
	}
}

func (c *client) readReply(l wire.Line) {
	if c.past.raw.Answered(string(l.RepliesTo)) {
		c.readRawReply(l)
		return
	}
	id, err := strconv.Atoi(string(l.RepliesTo))
	r := c.calls[id]
	if err != nil || r == nil {
		return
	}
	delete(c.calls, id)
	r.done, r.result = true, l.Result.Clone()
	if l.Failed {
		r.err = &rpcError{}
		_ = wire.Decode(l.Error, r.err) // an error of another form has no words
	} else if r.then != nil {
		r.then(r.result)
	}
}

func (c *client) readNotification(l wire.Line, stated wire.Statement) {
	c.seen[l.Method] = true
	var p params
	if err := wire.Decode(l.Params, &p); err != nil {
		return // of a form that the client does not read
	}
	text := c.texts[l.Session]
	if text == nil {
		text = &drive.Text{}
		c.texts[l.Session] = text
	}
	switch l.Piece.Kind {
	case wire.Text:
		text.Text.WriteString(l.Piece.Text)
	case wire.Thinking:
		text.Think.WriteString(l.Piece.Text)
	}
	switch l.Method {
	case "mcpServer/startupStatus/updated":
		if string(p.Status) != `"starting"` {
			c.servers[p.Name] = true
		}
	case "turn/started":
		c.startedTurn(l, p)
	case "turn/completed":
		c.endTurn(l, stated)
	case "serverRequest/resolved":
		c.resolved[string(l.RepliesTo)] = true
	case "error":
		c.retry = c.retry || stated.Notice == wire.NoticeRetry
	case "item/commandExecution/outputDelta":
		if t := c.tools[c.itemCall(l)]; t != nil {
			t.output = true
		}
	case "item/started":
		c.startItem(l, p)
		text.Text.WriteString(p.Item.Text) // a message without deltas
	case "item/completed":
		c.completeItem(l, p)
	}
}

// itemCall returns the scenario's id of the tool call that an item is, or "".
func (c *client) itemCall(l wire.Line) string {
	id, _ := strings.CutPrefix(l.Item, "call_")
	if id == l.Item {
		return ""
	}
	return id
}

func (c *client) startedTurn(l wire.Line, p params) {
	c.begun[l.Turn] = true
	switch {
	case l.Session == c.aside:
	case l.Session != c.thread:
		*c.agentOf(l.Session) = agent{turn: l.Turn}
	case c.turn == "" || c.turn == starting:
		c.turn = l.Turn
	case p.Turn.RootID == c.turn && l.Turn != c.turn:
		c.past.begunAs = l.Turn
	}
}

func (c *client) endTurn(l wire.Line, stated wire.Statement) {
	switch l.Session {
	case c.thread:
	case c.aside:
		c.asideEnded[l.Turn] = true
		return
	default: // its turns may have the same ids
		c.agentOf(l.Session).ended = true
		return
	}
	c.ended[l.Turn] = true
	if l.Turn != c.turn && !c.past.compacting {
		return
	}
	c.past.compacting = false
	interrupted := stated.End == wire.EndStopped
	c.closeTools(l.Turn, interrupted && c.cfg.killsCommands)
	c.stale = append(c.stale, c.open...)
	c.turn, c.open, c.past.begunAs = "", nil, ""
	for _, m := range c.sent {
		if interrupted && !m.taken && m.during == l.Turn {
			m.turn = l.Turn // dropped together with the turn
		}
	}
	c.d.DeclineCalls()
}

func (c *client) startItem(l wire.Line, p params) {
	if c.past.compacting && l.Session == c.thread {
		c.turn = l.Turn
	}
	switch {
	case l.Session == c.aside || l.Session == c.side:
	case l.Session != c.thread:
		if a := c.agentOf(l.Session); a.turn == "" { // older versions do not report its start
			a.turn = l.Turn
		}
	case l.Type == "userMessage":
		c.takeMessage(l, p)
	}
	if id := c.itemCall(l); id != "" {
		t := &toolCall{turn: l.Turn, command: l.Type == "commandExecution", process: p.Item.Process}
		c.tools[id] = t
		if l.Type == "subAgentActivity" && p.Item.Kind == "started" {
			t.agent = p.Item.Agent
			c.agentOf(t.agent)
		}
	}
}

func (c *client) completeItem(l wire.Line, p params) {
	id := c.itemCall(l)
	if id == "" {
		return
	}
	t := c.tools[id]
	if t == nil {
		t = &toolCall{turn: l.Turn}
		c.tools[id] = t
	}
	t.closed, t.completed = true, true
	// A call that starts a sub-agent names it only when it has started it.
	if p.Item.Tool == "spawnAgent" && len(p.Item.Receivers) == 1 {
		t.agent = p.Item.Receivers[0]
		c.agentOf(t.agent)
	}
}

// takeMessage finds the message that the runtime has taken into a turn: by its id,
// or, if the version does not report the id, by its text.
func (c *client) takeMessage(l wire.Line, p params) {
	var text string
	if parts, ok := p.Item.Content.([]any); ok && len(parts) > 0 {
		if part, ok := parts[0].(map[string]any); ok {
			text, _ = part["text"].(string)
		}
	}
	for _, m := range c.sent {
		if id := p.Item.ClientID; !m.taken && (id != nil && *id == m.id || id == nil && text == m.text) {
			m.taken, m.turn = true, l.Turn
			break
		}
	}
	if c.turn == "" && !c.ended[l.Turn] {
		c.turn = l.Turn
	}
}

// closeTools closes the tools of an ended turn that no line will close. Only a
// running command can outlive the turn, unless the end kills it.
func (c *client) closeTools(turn string, kills bool) {
	for id, t := range c.tools {
		asked := slices.ContainsFunc(c.open, func(q question) bool { return q.tool == id })
		if t.turn == turn && (!t.command || asked || kills) {
			t.closed = true
		}
	}
}

func (c *client) agentOf(thread string) *agent {
	a := c.agents[thread]
	if a == nil {
		a = &agent{}
		c.agents[thread] = a
	}
	return a
}

// Asks implements drive.Client.
func (c *client) Asks(tool string) bool {
	return slices.ContainsFunc(c.open, func(q question) bool { return tool == "" || q.tool == tool })
}

// Retries implements drive.Client.
func (c *client) Retries() bool { return c.retry }

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.tools[id] != nil }

// ShowsInput implements drive.Client. The wire shows a call when it is whole.
func (c *client) ShowsInput(string) bool { return true }

// ShowsOutput implements drive.Client.
func (c *client) ShowsOutput(id string) bool { return c.tools[id] != nil && c.tools[id].output }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.tools[id] != nil && c.tools[id].closed }

// Settled implements drive.Client. Tools wait for the end of the message.
func (c *client) Settled(bool) bool { return true }

// Streams implements drive.Client. The wire does not show that a message begins.
func (c *client) Streams() bool { return true }

// TaskEnded implements drive.Client.
func (c *client) TaskEnded(id string) bool {
	t := c.tools[id]
	return t != nil && t.closed && (t.agent == "" || c.agentOf(t.agent).ended)
}

// Ended implements drive.Client.
func (c *client) Ended(message string) bool {
	if turn, ok := c.asideTurns[message]; ok {
		return c.asideEnded[turn]
	}
	for _, m := range c.sent {
		if m.id == message {
			return c.ended[m.turn]
		}
	}
	return false
}

// Idle implements drive.Client.
func (c *client) Idle() bool {
	if c.turn != "" || len(c.calls) > 0 {
		return false
	}
	for _, m := range c.sent {
		if !c.ended[m.turn] {
			return false
		}
	}
	for _, turn := range c.asideTurns {
		if !c.asideEnded[turn] {
			return false
		}
	}
	for _, t := range c.tools {
		if !t.closed {
			return false
		}
	}
	for _, a := range c.agents {
		if !a.ended {
			return false
		}
	}
	return true
}

// Texts implements drive.Client.
func (c *client) Texts() []*drive.Text {
	var out []*drive.Text
	for _, t := range c.texts {
		out = append(out, t)
	}
	return out
}
