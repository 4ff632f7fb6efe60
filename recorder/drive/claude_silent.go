package drive

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// A runtime without lifecycles says nothing of a message when it has come, and
// echoes it only with the first whole block of the answer. But what it does is
// known: a message to an idle runtime begins a turn, what has waited begins the
// next one together, and what is put into a running turn is echoed there.

// sentSilently waits until such a runtime has a message.
func (c *claude) sentSilently(id, uuid string) error {
	c.taken[uuid] = "queued"
	if c.turns <= 0 {
		return c.d.until("the turn of message "+id+" to begin", func() bool { return c.taken[uuid] != "queued" })
	}
	// It reads one line after the other: with the answer to the next one it has
	// read this one. That question is the driver's own and no act of a client:
	// neither it nor its answer is recorded.
	r, err := c.postAs(asideID, claudeSubtype{"get_binary_version"})
	if err != nil {
		return err
	}
	return c.d.until("the runtime to read message "+id, func() bool { return r.done })
}

// asideID is the id of a question that the driver asks for itself.
const asideID = "turnspec-aside"

var aside = []byte(`"request_id":"` + asideID + `"`)

// started notes that a turn has begun: it takes what has waited, but for what
// came to be taken later than others that wait.
func (c *claude) started() {
	if c.cfg.claude.lifecycles {
		return
	}
	first := len(fixtures.Priorities)
	for uuid, state := range c.taken {
		if state == "queued" {
			first = min(first, c.rank(uuid))
		}
	}
	for uuid, state := range c.taken {
		if state == "queued" && c.rank(uuid) == first {
			c.taken[uuid] = "started"
		}
	}
}

// rank is the place of a message among those that wait.
func (c *claude) rank(uuid string) int {
	return slices.Index(fixtures.Priorities, cmp.Or(c.priority[uuid], "next"))
}

// echoed notes that the running turn has taken a message.
func (c *claude) echoed(uuid string) {
	if !c.cfg.claude.lifecycles && c.taken[uuid] == "queued" {
		c.taken[uuid] = "started"
	}
}

// completed notes that a turn has ended, with all that it took. A local command
// may have a result without a beginning.
func (c *claude) completed() {
	if !c.cfg.claude.lifecycles && c.turns < 0 {
		c.turns = 0
		c.move("queued", "started")
	}
	c.move("started", "completed")
}

func (c *claude) move(from, to string) {
	if c.cfg.claude.lifecycles {
		return
	}
	for uuid, state := range c.taken {
		if state == from {
			c.taken[uuid] = to
		}
	}
}

// launched looks for a task in a tool's result. A runtime without lifecycles
// does not say when a task starts that it is one of the background.
func (c *claude) launched(l claudeLine, toolUse string) {
	var r struct {
		Command string `json:"backgroundTaskId"`
		Async   bool   `json:"isAsync"`
		Agent   string `json:"agentId"`
	}
	if c.cfg.claude.lifecycles || json.Unmarshal(l.ToolResult, &r, asItCame) != nil {
		return // a result may be a string too
	}
	switch {
	case r.Command != "":
		c.background(toolUse, r.Command, false)
	case r.Async:
		c.background(toolUse, r.Agent, true)
	}
}
