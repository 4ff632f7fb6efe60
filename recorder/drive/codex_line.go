package drive

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// codexLine is any line of the server.
type codexLine struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
	Error  *codexError    `json:"error"`
}

// codexParams is the part of notifications that the driver looks at.
type codexParams struct {
	ThreadID  string         `json:"threadId"`
	TurnID    string         `json:"turnId"`
	ItemID    string         `json:"itemId"`
	RequestID jsontext.Value `json:"requestId"`
	Delta     string         `json:"delta"`
	Name      string         `json:"name"`

	WillRetry bool           `json:"willRetry"`
	Status    jsontext.Value `json:"status"`

	Turn struct {
		ID     string `json:"id"`
		RootID string `json:"rootTurnId"`
		Status string `json:"status"`
	} `json:"turn"`
	Item struct {
		ID    string `json:"id"`
		Type  string `json:"type"`
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

func (c *codex) line(b []byte) {
	var l codexLine
	if err := json.Unmarshal(b, &l, asItCame); err != nil {
		c.d.fail(fmt.Errorf("a line of stdout is not JSON: %w", err))
		return
	}
	switch {
	case l.Method == "" && c.past.answered(string(l.ID)):
		c.rawAnswered(l)
	case l.Method == "":
		id, err := strconv.Atoi(string(l.ID))
		if r := c.calls[id]; err == nil && r != nil {
			r.done, r.result, r.err = true, l.Result.Clone(), l.Error
			delete(c.calls, id)
			if r.err == nil && r.then != nil {
				r.then(r.result)
			}
		}
	case l.ID != nil:
		c.asked(l)
	default:
		c.notified(l)
	}
}

// asked takes a request of the server. What the driver cannot answer gets an
// error at once, so that no turn hangs on it.
func (c *codex) asked(l codexLine) {
	if l.Method == "item/tool/call" {
		if err := c.toolCall(l); err != nil {
			c.d.fail(err)
		}
		return
	}
	if slices.Contains([]string{
		"item/commandExecution/requestApproval", "item/fileChange/requestApproval",
		"item/permissions/requestApproval", askInput, "mcpServer/elicitation/request",
	}, l.Method) {
		var p struct {
			ItemID string `json:"itemId"`
		}
		_ = json.Unmarshal(l.Params, &p, asItCame) // without an item it is a question of no tool
		q := codexAsk{l.ID.Clone(), l.Method, strings.TrimPrefix(p.ItemID, "call_"), l.Params.Clone()}
		if a, ok := c.d.ruling(q.about(c.d.o.Scenario)); ok {
			if err := c.reply(q, a); err != nil {
				c.d.fail(err)
			}
			return
		}
		c.asks = append(c.asks, q)
		return
	}
	if err := c.refuse(l.ID, notSupported); err != nil {
		c.d.fail(err)
	}
}

func (c *codex) notified(l codexLine) {
	c.heard[l.Method] = true
	var p codexParams
	if err := json.Unmarshal(l.Params, &p, asItCame); err != nil {
		return // of a form that the driver does not look at
	}
	s := c.spoke[p.ThreadID]
	if s == nil {
		s = &said{}
		c.spoke[p.ThreadID] = s
	}
	switch l.Method {
	case "mcpServer/startupStatus/updated":
		if string(p.Status) != `"starting"` {
			c.servers[p.Name] = true
		}
	case "turn/started":
		c.begun[p.Turn.ID] = true
		switch {
		case p.ThreadID == c.other:
		case p.ThreadID != c.thread:
			*c.agent(p.ThreadID) = codexAgent{turn: p.Turn.ID}
		case c.turn == "" || c.turn == "starting":
			c.turn = p.Turn.ID
		case p.Turn.RootID == c.turn && p.Turn.ID != c.turn:
			c.past.begunAs = p.Turn.ID
		}
	case "turn/completed":
		if p.ThreadID == c.other {
			c.ends[p.Turn.ID] = true
			break
		}
		if p.ThreadID != c.thread { // whose turns may have the same ids
			c.agent(p.ThreadID).over = true
			break
		}
		c.over[p.Turn.ID] = true
		if p.Turn.ID == c.turn || c.past.compacting {
			c.past.compacting = false
			interrupted := p.Turn.Status == "interrupted"
			c.closeTools(p.Turn.ID, interrupted && c.cfg.codex.kills)
			c.stale = append(c.stale, c.asks...)
			c.turn, c.asks, c.past.begunAs = "", nil, ""
			for _, m := range c.sent {
				if interrupted && !m.taken && m.during == p.Turn.ID {
					m.turn = p.Turn.ID // dropped with it
				}
			}
			c.d.giveUpCalls()
		}
	case "serverRequest/resolved":
		c.noted[string(p.RequestID)] = true
	case "error":
		c.again = c.again || p.WillRetry
	case "item/agentMessage/delta":
		s.text.WriteString(p.Delta)
	case "item/reasoning/textDelta", "item/reasoning/summaryTextDelta":
		s.think.WriteString(p.Delta)
	case "item/commandExecution/outputDelta":
		if t := c.tools[strings.TrimPrefix(p.ItemID, "call_")]; t != nil {
			t.output = true
		}
	case "item/started":
		if c.past.compacting && p.ThreadID == c.thread {
			c.turn = p.TurnID
		}
		switch {
		case p.ThreadID == c.other || p.ThreadID == c.side:
		case p.ThreadID != c.thread:
			if a := c.agent(p.ThreadID); a.turn == "" { // older versions do not tell that it has begun
				a.turn = p.TurnID
			}
		case p.Item.Type == "userMessage":
			c.took(p)
		}
		if id, ok := strings.CutPrefix(p.Item.ID, "call_"); ok {
			c.tools[id] = &codexTool{turn: p.TurnID, command: p.Item.Type == "commandExecution", process: p.Item.Process}
			if p.Item.Type == "subAgentActivity" && p.Item.Kind == "started" {
				c.tools[id].agent = p.Item.Agent
				c.agent(p.Item.Agent)
			}
		}
		s.text.WriteString(p.Item.Text) // a message without deltas
	case "item/completed":
		if id, ok := strings.CutPrefix(p.Item.ID, "call_"); ok {
			if c.tools[id] == nil {
				c.tools[id] = &codexTool{turn: p.TurnID}
			}
			c.tools[id].closed, c.tools[id].told = true, true
			// A call that makes a sub-agent names it when it has made it.
			if p.Item.Tool == "spawnAgent" && len(p.Item.Receivers) == 1 {
				c.tools[id].agent = p.Item.Receivers[0]
				c.agent(p.Item.Receivers[0])
			}
		}
	}
}

// took finds the message that the runtime has taken: by its id, or where a
// version does not tell that, the first one with that text.
func (c *codex) took(p codexParams) {
	var text string
	if parts, ok := p.Item.Content.([]any); ok && len(parts) > 0 {
		if part, ok := parts[0].(map[string]any); ok {
			text, _ = part["text"].(string)
		}
	}
	for _, m := range c.sent {
		if id := p.Item.ClientID; !m.taken && (id != nil && *id == m.id || id == nil && text == m.text) {
			m.taken, m.turn = true, p.TurnID
			break
		}
	}
	if c.turn == "" && !c.over[p.TurnID] {
		c.turn = p.TurnID
	}
}

// closeTools closes what no line will close: at the end of a turn only a
// command that runs has a life of its own, unless the end kills it.
func (c *codex) closeTools(turn string, kills bool) {
	for id, t := range c.tools {
		asked := slices.ContainsFunc(c.asks, func(a codexAsk) bool { return a.tool == id })
		if t.turn == turn && (!t.command || asked || kills) {
			t.closed = true
		}
	}
}

func (c *codex) asking(tool string) bool {
	return slices.ContainsFunc(c.asks, func(a codexAsk) bool { return tool == "" || a.tool == tool })
}
func (c *codex) retrying() bool         { return c.again }
func (c *codex) sawTool(id string) bool { _, ok := c.tools[id]; return ok }

// sawInput: a call is told when it is whole.
func (c *codex) sawInput(string) bool { return true }
func (c *codex) settled(bool) bool    { return true } // tools wait for the end of the message
func (c *codex) speaks() bool         { return true } // a message's beginning is not on this wire
func (c *codex) sawOutput(id string) bool {
	return c.tools[id] != nil && c.tools[id].output
}
func (c *codex) sawResult(id string) bool {
	return c.tools[id] != nil && c.tools[id].closed
}
func (c *codex) taskEnded(id string) bool {
	t := c.tools[id]
	return t != nil && t.closed && (t.agent == "" || c.agent(t.agent).over)
}

func (c *codex) agent(thread string) *codexAgent {
	a := c.agents[thread]
	if a == nil {
		a = &codexAgent{}
		c.agents[thread] = a
	}
	return a
}

func (c *codex) ended(message string) bool {
	if turn, ok := c.asides[message]; ok {
		return c.ends[turn]
	}
	for _, m := range c.sent {
		if m.id == message {
			return c.over[m.turn]
		}
	}
	return false
}

func (c *codex) idle() bool {
	if c.turn != "" || len(c.calls) > 0 {
		return false
	}
	for _, m := range c.sent {
		if !c.over[m.turn] {
			return false
		}
	}
	for _, turn := range c.asides {
		if !c.ends[turn] {
			return false
		}
	}
	for _, t := range c.tools {
		if !t.closed {
			return false
		}
	}
	for _, a := range c.agents {
		if !a.over {
			return false
		}
	}
	return true
}

func (c *codex) said() []*said {
	var out []*said
	for _, s := range c.spoke {
		out = append(out, s)
	}
	return out
}
