package drive

import (
	"errors"
	"fmt"
	"slices"
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
	Mode      string `json:"permissionMode"`
	Command   string `json:"command_uuid"`
	Origin    struct {
		Kind string `json:"kind"`
	} `json:"origin"`
	UUID     string         `json:"uuid"`
	IsReplay bool           `json:"isReplay"`
	Parent   *string        `json:"parent_tool_use_id"`
	Event    claudeEvent    `json:"event"`
	Message  jsontext.Value `json:"message"`

	ToolResult jsontext.Value `json:"tool_use_result"`

	Patch struct {
		Status string `json:"status"`
	} `json:"patch"`
	TaskID       string `json:"task_id"`
	ToolUseID    string `json:"tool_use_id"`
	TaskType     string `json:"task_type"`
	Status       string `json:"status"`
	Backgrounded bool   `json:"is_backgrounded"`
	Tasks        []struct {
		TaskID string `json:"task_id"`
	} `json:"tasks"`
}

type claudeEvent struct {
	Type  string `json:"type"`
	Block struct {
		ID string `json:"id"`
	} `json:"content_block"`
	Delta struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"delta"`
}

// UnmarshalJSONFrom reads an object; other messages have a word in its place.
func (e *claudeEvent) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	type plain claudeEvent
	return json.UnmarshalDecode(d, (*plain)(e))
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

func (c *claude) asking(tool string) bool {
	return slices.ContainsFunc(c.asks, func(a claudeAsk) bool { return tool == "" || a.tool == tool })
}
func (c *claude) retrying() bool           { return c.retries > 0 }
func (c *claude) sawTool(id string) bool   { return c.tools[id] }
func (c *claude) sawInput(id string) bool  { return c.inputs[id] }
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
	if c.waits() {
		return true
	}
	return c.turns <= 0 && (c.state == "idle" || !c.cfg.claude.lifecycles || c.agentRuns())
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
func (c *claude) speaks() bool              { return c.streams }

// waits reports whether a message has been sent that the runtime is not done with.
func (c *claude) waits() bool {
	for m := range c.sent {
		if !c.done(m) {
			return true
		}
	}
	return false
}

func (c *claude) idle() bool {
	if c.turns > 0 || c.owed > 0 || len(c.calls) > 0 || c.state != "" && c.state != "idle" || c.waits() {
		return false
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
		if c.past.answered(l.Response.ReqID) {
			return
		}
		if r := c.calls[l.Response.ReqID]; r != nil {
			r.done, r.response, r.err = true, l.Response.Response.Clone(), l.Response.Error
			delete(c.calls, l.Response.ReqID)
		}
	case "control_request":
		c.asked(l)
	case "control_cancel_request":
		c.d.withdrawn(l.ReqID)
		for i, a := range c.asks {
			if a.id == l.ReqID {
				c.asks, c.closed = slices.Delete(c.asks, i, i+1), append(c.closed, a)
				break
			}
		}
	case "command_lifecycle":
		c.taken[l.Command] = l.State
	case "result":
		c.turns--
		c.past.result(c)
		c.completed()
		if l.Origin.Kind == "task-notification" {
			c.owed--
		}
	case "stream_event":
		switch l.Event.Type {
		case "message_start":
			c.streams = true
		case "message_stop":
			c.streams = false
		case "content_block_start":
			c.block = strings.TrimPrefix(l.Event.Block.ID, "toolu_")
		case "content_block_delta":
			if l.Event.Delta.Type == "input_json_delta" {
				c.inputs[c.block] = true
			}
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
	if l.Mode != "" {
		c.mode = l.Mode
	}
	switch l.Subtype {
	case "init":
		c.turns++
		c.started()
		c.past.opened(c, l.SessionID)
	case "api_retry":
		c.retries++
	case "session_state_changed":
		c.state = l.State
	case "task_started":
		if l.Backgrounded {
			c.background(l.ToolUseID, l.TaskID, l.TaskType == "local_agent")
		}
	case "task_notification":
		c.taskOver(l.TaskID, l.Status)
	case "task_updated":
		// Without lifecycles the notification comes only after the turn.
		if !c.cfg.claude.lifecycles && slices.Contains([]string{"completed", "failed", "killed"}, l.Patch.Status) {
			c.taskOver(l.TaskID, map[string]string{"killed": "stopped"}[l.Patch.Status])
		}
	}
}

func (c *claude) taskOver(task, status string) {
	if over, background := c.bg[task]; background && !over {
		// What was stopped gets none, but a sub-agent that the client stopped,
		// and on a runtime without lifecycles one that the model stopped too.
		if !c.halting && (status != "stopped" || c.subs[task] && (c.stopped[task] || !c.cfg.claude.lifecycles)) {
			c.owed++ // the runtime tells the model about it in a turn of its own
		}
		c.bg[task] = true
	}
}

// background notes that a tool call goes on as a task beside the turns.
func (c *claude) background(toolUse, task string, agent bool) {
	if _, known := c.bg[task]; !known {
		c.bg[task] = false
	}
	c.bgTool[strings.TrimPrefix(toolUse, "toolu_")] = task
	if agent {
		c.subs[task] = true
	}
}

// user takes the results of tools. The text of a replayed message stands as a
// string and not as blocks: only that it was taken is of interest.
func (c *claude) user(l claudeLine) {
	if l.IsReplay {
		c.echoed(l.UUID)
	}
	var m claudeMessage
	if json.Unmarshal(l.Message, &m, asItCame) != nil {
		return
	}
	for _, b := range m.Content {
		if b.Type == "tool_result" {
			c.results[strings.TrimPrefix(b.ToolID, "toolu_")] = true
			c.launched(l, b.ToolID)
		}
	}
}

func (c *claude) assistant(l claudeLine) {
	if l.Parent == nil {
		c.past.last = l.UUID
	}
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
		Subtype     string         `json:"subtype"`
		Input       jsontext.Value `json:"input"`
		Tool        string         `json:"tool_use_id"`
		Name        string         `json:"tool_name"`
		Suggestions jsontext.Value `json:"permission_suggestions"`
	}
	switch err := c.called(l); {
	case err == nil:
		return
	case !errors.Is(err, errNotOurs):
		c.d.fail(err)
		return
	}
	if err := json.Unmarshal(l.Request, &r, asItCame); err == nil && r.Subtype == "can_use_tool" {
		c.asks = append(c.asks, claudeAsk{id: l.ReqID, tool: strings.TrimPrefix(r.Tool, "toolu_"), name: r.Name, input: r.Input.Clone(), suggestions: r.Suggestions.Clone()})
		if a, ok := c.d.ruling(strings.TrimPrefix(r.Tool, "toolu_")); ok {
			if err := c.answer(a); err != nil {
				c.d.fail(err)
			}
		}
		return
	}
	if r.Subtype == "elicitation" {
		c.asks = append(c.asks, claudeAsk{id: l.ReqID, elicits: true})
		return
	}
	if err := c.refuse(l.ReqID, notSupported); err != nil {
		c.d.fail(err)
	}
}
