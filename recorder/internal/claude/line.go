package claude

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// members are those of a line that only the client needs. The rest is read by
// package fixtures/wire/claude.
type members struct {
	State  wire.String `json:"state"`
	Mode   wire.String `json:"permissionMode"`
	Origin struct {
		Kind wire.String `json:"kind"`
	} `json:"origin"`
	Patch struct {
		Status wire.String `json:"status"`
	} `json:"patch"`
	TaskType   wire.String    `json:"task_type"`
	Event      jsontext.Value `json:"event"`
	Message    jsontext.Value `json:"message"`
	ToolResult jsontext.Value `json:"tool_use_result"`
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
		c.d.Fail(c.handleRequest(l))
	case wire.Withdrawal:
		id := wire.Unquote(l.RepliesTo)
		c.d.DropCall(id)
		if i := slices.IndexFunc(c.open, func(q question) bool { return q.id == id }); i >= 0 {
			c.closed = append(c.closed, c.open[i])
			c.open = slices.Delete(c.open, i, i+1)
		}
	case wire.MessageState:
		c.queue[l.About[0]] = string(m.State)
	case wire.TurnEnd:
		c.turns--
		for id := range c.sent {
			if _, known := c.past.ends[id]; !known {
				c.past.ends[id] = c.past.last
			}
		}
		c.completeStarted()
		if m.Origin.Kind == "task-notification" {
			c.owed--
		}
	}
	switch name, _, _ := strings.Cut(l.Name, "/"); {
	case name == "stream_event":
		c.readEvent(l, m)
	case name == "system":
		c.readSystem(l, m)
	case strings.HasPrefix(name, "assistant"):
		c.readAssistant(l, m)
	case l.Echo:
		c.startEchoed(l.UUID)
	}
	for _, t := range l.Tools {
		id := c.d.Runtime.Wire.ScenarioCall(t.ID)
		if !t.Ends {
			c.tools[id] = true
			continue
		}
		c.results[id] = true
		c.startFromResult(l, m, t.ID)
	}
}

func (c *client) readReply(l wire.Line) {
	id := wire.Unquote(l.RepliesTo)
	r := c.calls[id]
	if c.past.raw.Answered(id) || r == nil {
		return
	}
	var failed struct {
		Error string `json:"error"`
	}
	if l.Failed {
		_ = wire.Decode(l.Error, &failed) // an error without words has none
	}
	r.done, r.err = true, failed.Error
	delete(c.calls, id)
}

func (c *client) readEvent(l wire.Line, m members) {
	switch l.Name {
	case "stream_event/message_start":
		c.streams = true
	case "stream_event/message_stop":
		c.streams = false
	}
	if l.BlockStart {
		var e struct {
			Block struct {
				ID wire.String `json:"id"`
			} `json:"content_block"`
		}
		_ = wire.Decode(m.Event, &e) // most blocks have no id
		c.block = c.d.Runtime.Wire.ScenarioCall(string(e.Block.ID))
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

func (c *client) readSystem(l wire.Line, m members) {
	if m.Mode != "" {
		c.mode = string(m.Mode)
	}
	switch l.Name {
	case "system/init":
		c.turns++
		c.startQueued()
		c.openSession(l.Session)
	case "system/api_retry":
		c.retries++
	case "system/session_state_changed":
		c.state = string(m.State)
	case "system/task_started":
		if len(l.Background) > 0 {
			c.startTask(l.Item, l.Task, m.TaskType == "local_agent")
		}
	case "system/task_notification":
		c.endTask(l.Task, l.Status == "stopped")
	case "system/task_updated":
		// A version without reportsQueue sends the notification only after the turn.
		if !c.cfg.reportsQueue && slices.Contains([]wire.String{"completed", "failed", "killed"}, m.Patch.Status) {
			c.endTask(l.Task, m.Patch.Status == "killed")
		}
	}
}

// startTask handles a tool call that goes on in the background.
func (c *client) startTask(toolUse, id string, agent bool) {
	t := c.tasks[id]
	if t == nil {
		t = &task{}
		c.tasks[id] = t
	}
	t.agent = t.agent || agent
	c.taskOf[c.d.Runtime.Wire.ScenarioCall(toolUse)] = id
}

func (c *client) endTask(id string, stopped bool) {
	t := c.tasks[id]
	if t == nil || t.ended {
		return
	}
	t.ended = true
	// The runtime reports the end to the model in a turn of its own. It does not if
	// the work was stopped, unless it is a sub-agent that the client stopped; a
	// version without reportsQueue does so too if the model stopped it.
	if !c.interrupting && (!stopped || t.agent && (t.stopped || !c.cfg.reportsQueue)) {
		c.owed++
	}
}

// readAssistant reads a whole message. The text of a sub-agent is not streamed.
func (c *client) readAssistant(l wire.Line, m members) {
	if l.Agent == "" {
		c.past.last = l.UUID
		return
	}
	var message struct {
		Content []struct {
			Text     string `json:"text"`
			Thinking string `json:"thinking"`
		} `json:"content"`
	}
	if err := wire.Decode(m.Message, &message); err != nil {
		c.d.Fail(fmt.Errorf("a message of the model has a form that the client does not know: %w", err))
		return
	}
	t := c.agents[l.Agent]
	if t == nil {
		t = &drive.Text{}
		c.agents[l.Agent] = t
	}
	for _, b := range message.Content {
		t.Text.WriteString(b.Text)
		t.Think.WriteString(b.Thinking)
	}
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

// ShowsOutput implements drive.Client. The runtime streams no output.
func (c *client) ShowsOutput(string) bool { return false }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.results[id] }

// TaskEnded implements drive.Client.
func (c *client) TaskEnded(id string) bool {
	t := c.tasks[c.taskOf[id]]
	return t != nil && t.ended
}

// Settled implements drive.Client.
func (c *client) Settled(holding bool) bool { return holding || !c.streams }

// Streams implements drive.Client.
func (c *client) Streams() bool { return c.streams }

// Ended implements drive.Client. A turn has ended if the runtime is done with the
// message, and is idle or goes on with another message. While a sub-agent runs in
// the background, the runtime is not idle.
func (c *client) Ended(message string) bool {
	if !c.finished(message) {
		return false
	}
	return c.hasUnfinished() || c.turns <= 0 && (c.state == "idle" || !c.cfg.reportsQueue || c.agentRuns())
}

func (c *client) agentRuns() bool {
	for _, t := range c.tasks {
		if t.agent && !t.ended {
			return true
		}
	}
	return false
}

// finished reports whether the runtime is done with a message.
func (c *client) finished(message string) bool {
	state := c.queue[c.sent[message]]
	return state == completed || state == cancelled
}

func (c *client) hasUnfinished() bool {
	for m := range c.sent {
		if !c.finished(m) {
			return true
		}
	}
	return false
}

// Idle implements drive.Client.
func (c *client) Idle() bool {
	if c.turns > 0 || c.owed > 0 || len(c.calls) > 0 || c.state != "" && c.state != "idle" || c.hasUnfinished() {
		return false
	}
	for _, t := range c.tasks {
		if !t.ended {
			return false
		}
	}
	return true
}

// Texts implements drive.Client.
func (c *client) Texts() []*drive.Text {
	out := []*drive.Text{&c.main}
	for _, t := range c.agents {
		out = append(out, t)
	}
	return out
}
