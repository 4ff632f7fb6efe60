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
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
	ItemID   string `json:"itemId"`
	Delta    string `json:"delta"`
	Turn     struct {
		ID string `json:"id"`
	} `json:"turn"`
	Item struct {
		ID    string `json:"id"`
		Type  string `json:"type"`
		Text  string `json:"text"`
		Kind  string `json:"kind"`
		Agent string `json:"agentThreadId"`
	} `json:"item"`
}

func (c *codex) line(b []byte) {
	var l codexLine
	if err := json.Unmarshal(b, &l, asItCame); err != nil {
		c.d.fail(fmt.Errorf("a line of stdout is not JSON: %w", err))
		return
	}
	switch {
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
	if slices.Contains([]string{
		"item/commandExecution/requestApproval", "item/fileChange/requestApproval",
		"item/permissions/requestApproval", "item/tool/requestUserInput", "mcpServer/elicitation/request",
	}, l.Method) {
		var p struct {
			ItemID string `json:"itemId"`
		}
		_ = json.Unmarshal(l.Params, &p, asItCame) // without an item it is a question of no tool
		c.asks = append(c.asks, codexAsk{l.ID.Clone(), l.Method, strings.TrimPrefix(p.ItemID, "call_")})
		return
	}
	type fault struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if err := c.write(struct {
		ID    jsontext.Value `json:"id"`
		Error fault          `json:"error"`
	}{l.ID, fault{-32601, "not supported by this client"}}); err != nil {
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
	case "turn/started":
		if p.ThreadID == c.thread {
			c.turn = p.Turn.ID
		} else {
			c.agent(p.ThreadID)
		}
	case "turn/completed":
		c.over[p.Turn.ID] = true
		if p.ThreadID != c.thread {
			c.agent(p.ThreadID).over = true
		}
		if p.Turn.ID == c.turn {
			c.closeTools(p.Turn.ID)
			c.turn, c.asks = "", nil
		}
	case "item/agentMessage/delta":
		s.text.WriteString(p.Delta)
	case "item/reasoning/textDelta", "item/reasoning/summaryTextDelta":
		s.think.WriteString(p.Delta)
	case "item/commandExecution/outputDelta":
		if t := c.tools[strings.TrimPrefix(p.ItemID, "call_")]; t != nil {
			t.output = true
		}
	case "item/started":
		if id, ok := strings.CutPrefix(p.Item.ID, "call_"); ok {
			c.tools[id] = &codexTool{turn: p.TurnID, command: p.Item.Type == "commandExecution"}
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
			c.tools[id].closed = true
		}
	}
}

// closeTools closes what no line will close: at the end of a turn only a
// command that runs has a life of its own.
func (c *codex) closeTools(turn string) {
	for id, t := range c.tools {
		asked := slices.ContainsFunc(c.asks, func(a codexAsk) bool { return a.tool == id })
		if t.turn == turn && (!t.command || asked) {
			t.closed = true
		}
	}
}

func (c *codex) asking() bool           { return len(c.asks) > 0 }
func (c *codex) sawTool(id string) bool { _, ok := c.tools[id]; return ok }
func (c *codex) settled(bool) bool      { return true } // tools wait for the end of the message
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
	return c.over[c.turnOf[message]]
}

func (c *codex) idle() bool {
	if c.turn != "" || len(c.calls) > 0 {
		return false
	}
	for _, t := range c.turnOf {
		if !c.over[t] {
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
