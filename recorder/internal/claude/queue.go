package claude

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// The states of a message, as the runtime reports them in command_lifecycle.
//
// A version without reportsQueue reports nothing when it reads a message, and
// echoes it only with the first whole block of the reply. But its behaviour is
// known: a message to an idle runtime begins a turn, all queued messages begin the
// next turn together, and a message that is injected into a turn is echoed there.
// From that the client keeps the states itself.
const (
	queued    = "queued"
	started   = "started"
	completed = "completed"
	cancelled = "cancelled"
)

// waitRead waits until a version without reportsQueue has read a message.
func (c *client) waitRead(id, uuid string) error {
	c.queue[uuid] = queued
	if c.turns <= 0 {
		return c.d.Until("the turn of message "+id+" to begin", func() bool { return c.queue[uuid] != queued })
	}
	// The runtime reads one line after the other, so when it replies to the next
	// line it has read this one. That request is the driver's and not a step of
	// the scenario; it is not recorded.
	r, err := c.postAs(hiddenID, struct {
		Subtype string `json:"subtype"`
	}{"get_binary_version"})
	if err != nil {
		return err
	}
	return c.d.Until("the runtime to read message "+id, func() bool { return r.done })
}

// hiddenID is the id of a request that is not recorded.
const hiddenID = "turnspec-aside"

// startQueued handles the start of a turn: it takes the queued messages of the
// highest priority.
func (c *client) startQueued() {
	if c.cfg.reportsQueue {
		return
	}
	first := len(fixtures.Priorities)
	for uuid, state := range c.queue {
		if state == queued {
			first = min(first, c.rank(uuid))
		}
	}
	for uuid, state := range c.queue {
		if state == queued && c.rank(uuid) == first {
			c.queue[uuid] = started
		}
	}
}

func (c *client) rank(uuid string) int {
	return slices.Index(fixtures.Priorities, cmp.Or(c.priority[uuid], "next"))
}

// startEchoed handles the echo of a message: the running turn has taken it.
func (c *client) startEchoed(uuid string) {
	if !c.cfg.reportsQueue && c.queue[uuid] == queued {
		c.queue[uuid] = started
	}
}

// completeStarted handles the end of a turn. A local command may have a result
// without an init.
func (c *client) completeStarted() {
	if !c.cfg.reportsQueue && c.turns < 0 {
		c.turns = 0
		c.moveAll(queued, started)
	}
	c.moveAll(started, completed)
}

func (c *client) moveAll(from, to string) {
	if c.cfg.reportsQueue {
		return
	}
	for uuid, state := range c.queue {
		if state == from {
			c.queue[uuid] = to
		}
	}
}

// startFromResult finds a task in the result of a tool. A version without
// reportsQueue does not report on a task's start that it is in the background.
func (c *client) startFromResult(l wire.Line, m members, toolUse string) {
	var r struct {
		Command wire.String `json:"backgroundTaskId"`
		Agent   wire.String `json:"agentId"`
	}
	if c.cfg.reportsQueue || wire.Decode(m.ToolResult, &r) != nil {
		return // a result may be a string
	}
	switch {
	case r.Command != "":
		c.startTask(toolUse, string(r.Command), false)
	case len(l.Background) > 0:
		c.startTask(toolUse, string(r.Agent), true)
	}
}
