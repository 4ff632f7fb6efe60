package uistream

import "github.com/turnspec/turnspec/adapters/backend/dialect"

func (c *Checker) checkTool(m dialect.Message) {
	id := m.String("toolCallId")
	t := c.m.tools[id]
	switch m.Type {
	case "tool-approval-response":
		c.checkAnswer(m)
		return
	case "tool-input-start":
		if t != nil {
			c.found.Fail("tool-again", "the input of %q starts twice", id)
			return
		}
		c.m.tools[id], c.m.ofStep[id] = &checkedTool{name: m.String("toolName")}, true
		return
	case "tool-input-available", "tool-input-error":
		c.checkInput(m, id, t)
		return
	}
	if t == nil {
		c.found.Fail("tool-unknown", "%s of %q", m.Type, id)
		return
	}
	if t.ended {
		c.found.Fail("tool-ended", "%s of %q", m.Type, id)
		return
	}
	if t.available == (m.Type == "tool-input-delta") {
		c.found.Fail("tool-order", "%s of %q", m.Type, id)
	}
	switch m.Type {
	case "tool-approval-request":
		approval := m.String("approvalId")
		if c.m.approvals[approval] != "" {
			c.found.Fail("approval-again", "approvalId %q", approval)
		}
		c.m.approvals[approval], t.waits = id, true
	case "tool-output-available":
		t.ended = !m.True("preliminary")
	case "tool-output-error", "tool-output-denied":
		t.ended = true
	}
}

func (c *Checker) checkInput(m dialect.Message, id string, t *checkedTool) {
	name := m.String("toolName")
	if t == nil {
		t = &checkedTool{name: name}
		c.m.tools[id], c.m.ofStep[id] = t, true
	}
	if t.available || t.ended {
		c.found.Fail("tool-again", "the input of %q is available twice", id)
	}
	if t.name != name {
		c.found.Fail("tool-renamed", "%q is %q, and was %q", id, name, t.name)
	}
	t.available, t.ended = true, m.Type == "tool-input-error"
}

func (c *Checker) checkAnswer(m dialect.Message) {
	approval := m.String("approvalId")
	t := c.m.tools[c.m.approvals[approval]]
	if t == nil || !t.waits {
		c.found.Fail("approval-unknown", "approvalId %q", approval)
		return
	}
	t.waits = false
}
