package drive

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// claudeLine is any line of the runtime, as far as the driver looks.
type claudeLine struct {
	Type    string         `json:"type"`
	Subtype string         `json:"subtype"`
	Request jsontext.Value `json:"request"`
	ReqID   string         `json:"request_id"`

	Response struct {
		Subtype  string         `json:"subtype"`
		ReqID    string         `json:"request_id"`
		Response jsontext.Value `json:"response"`
		Error    string         `json:"error"`
	} `json:"response"`

	SessionID string `json:"session_id"`
	State     string `json:"state"`
	Command   string `json:"command_uuid"`
	Origin    struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	Parent  *string        `json:"parent_tool_use_id"`
	Event   claudeEvent    `json:"event"`
	Message jsontext.Value `json:"message"`

	TaskID       string `json:"task_id"`
	ToolUseID    string `json:"tool_use_id"`
	TaskType     string `json:"task_type"`
	Backgrounded bool   `json:"is_backgrounded"`
	Tasks        []struct {
		TaskID string `json:"task_id"`
	} `json:"tasks"`
}

type claudeEvent struct {
	Type  string `json:"type"`
	Delta struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"delta"`
}

type claudeMessage struct {
	Content []struct {
		Type     string `json:"type"`
		ID       string `json:"id"`
		ToolID   string `json:"tool_use_id"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"content"`
}

func (c *claude) asking() bool             { return len(c.asks) > 0 }
func (c *claude) sawTool(id string) bool   { return c.tools[id] }
func (c *claude) sawOutput(string) bool    { return false } // it streams none
func (c *claude) sawResult(id string) bool { return c.results[id] }
func (c *claude) taskEnded(id string) bool { return c.bgTool[id] != "" && c.bg[c.bgTool[id]] }

// ended reports whether the turn that took the message is over: the runtime is
// done with the message, and says that it is idle or goes on with another one,
// or with a sub-agent in the background: then it is not idle before that ends.
func (c *claude) ended(message string) bool {
	if !c.done(message) {
		return false
	}
	for m := range c.sent {
		if !c.done(m) {
			return true
		}
	}
	return c.turns <= 0 && (c.state == "idle" || c.agentRuns())
}

func (c *claude) agentRuns() bool {
	for task := range c.subs {
		if !c.bg[task] {
			return true
		}
	}
	return false
}

func (c *claude) done(message string) bool {
	state := c.taken[c.sent[message]]
	return state == "completed" || state == "cancelled"
}

func (c *claude) settled(holding bool) bool { return holding || !c.streams }

func (c *claude) idle() bool {
	if c.turns > 0 || c.owed > 0 || len(c.calls) > 0 || c.state != "" && c.state != "idle" {
		return false
	}
	for m := range c.sent {
		if !c.done(m) {
			return false
		}
	}
	for _, over := range c.bg {
		if !over {
			return false
		}
	}
	return true
}

func (c *claude) said() []*said {
	out := []*said{&c.main}
	for _, s := range c.agents {
		out = append(out, s)
	}
	return out
}

func (c *claude) line(b []byte) {
	var l claudeLine
	if err := json.Unmarshal(b, &l, asItCame); err != nil {
		c.d.fail(fmt.Errorf("a line of stdout is not what the driver knows: %w: %.300s", err, b))
		return
	}
	switch l.Type {
	case "control_response":
		if r := c.calls[l.Response.ReqID]; r != nil {
			r.done, r.response, r.err = true, l.Response.Response.Clone(), l.Response.Error
			delete(c.calls, l.Response.ReqID)
		}
	case "control_request":
		c.asked(l)
	case "control_cancel_request":
		for i, a := range c.asks {
			if a.id == l.ReqID {
				c.asks = append(c.asks[:i], c.asks[i+1:]...)
				break
			}
		}
	case "command_lifecycle":
		c.taken[l.Command] = l.State
	case "result":
		c.turns--
		if l.Origin.Kind == "task-notification" {
			c.owed--
		}
	case "stream_event":
		switch l.Event.Type {
		case "message_start":
			c.streams = true
		case "message_stop":
			c.streams = false
		}
		c.main.text.WriteString(l.Event.Delta.Text)
		c.main.think.WriteString(l.Event.Delta.Thinking)
	case "assistant":
		c.assistant(l)
	case "user":
		c.user(l)
	case "system":
		c.system(l)
	}
}

func (c *claude) system(l claudeLine) {
	switch l.Subtype {
	case "init":
		c.turns++
		c.session = l.SessionID
	case "session_state_changed":
		c.state = l.State
	case "task_started":
		if l.Backgrounded {
			if _, known := c.bg[l.TaskID]; !known {
				c.bg[l.TaskID] = false
			}
			c.bgTool[strings.TrimPrefix(l.ToolUseID, "toolu_")] = l.TaskID
			if l.TaskType == "local_agent" {
				c.subs[l.TaskID] = true
			}
		}
	case "task_notification":
		if over, background := c.bg[l.TaskID]; background && !over {
			c.owed++ // the runtime tells the model about it in a turn of its own
			c.bg[l.TaskID] = true
		}
	}
}

// user takes the results of tools. The text of a replayed message stands as a
// string and not as blocks: it is of no interest here.
func (c *claude) user(l claudeLine) {
	var m claudeMessage
	if json.Unmarshal(l.Message, &m, asItCame) != nil {
		return
	}
	for _, b := range m.Content {
		if b.Type == "tool_result" {
			c.results[strings.TrimPrefix(b.ToolID, "toolu_")] = true
		}
	}
}

func (c *claude) assistant(l claudeLine) {
	var m claudeMessage
	if err := json.Unmarshal(l.Message, &m, asItCame); err != nil {
		c.d.fail(fmt.Errorf("an assistant's message is not what the driver knows: %w", err))
		return
	}
	for _, b := range m.Content {
		if id, ok := strings.CutPrefix(b.ID, "toolu_"); ok {
			c.tools[id] = true
		}
		if l.Parent != nil {
			s := c.agents[*l.Parent]
			if s == nil {
				s = &said{}
				c.agents[*l.Parent] = s
			}
			s.text.WriteString(b.Text)
			s.think.WriteString(b.Thinking)
		}
	}
}

// asked takes a control request of the runtime. What the driver cannot answer
// gets an error at once, so that no turn hangs on it.
func (c *claude) asked(l claudeLine) {
	var r struct {
		Subtype string         `json:"subtype"`
		Input   jsontext.Value `json:"input"`
	}
	if err := json.Unmarshal(l.Request, &r, asItCame); err == nil && r.Subtype == "can_use_tool" {
		c.asks = append(c.asks, claudeAsk{l.ReqID, r.Input.Clone()})
		return
	}
	type response struct {
		Subtype string `json:"subtype"`
		ReqID   string `json:"request_id"`
		Error   string `json:"error"`
	}
	if err := c.write(struct {
		Type     string   `json:"type"`
		Response response `json:"response"`
	}{"control_response", response{"error", l.ReqID, "not supported by this client"}}); err != nil {
		c.d.fail(err)
	}
}
