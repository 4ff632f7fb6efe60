package agui

import (
	"strconv"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
)

// openPart is a part with a start and an end. It stays after its end.
type openPart struct {
	open   bool
	states map[string]string // the members that a further start must repeat
}

// call is a tool call of any run of the stream.
type call struct {
	name          string
	ended, result bool
}

// lane is what a producer writes in chunks. A producer writes one part at a time.
type lane struct{ kind, id string }

// partKinds are the types of events that belong to something with a start and an end: its kind, the
// member with its id, and the members that a start repeats.
var partKinds = map[string]struct {
	kind, id, what string
	repeats        []string
}{
	"TEXT_MESSAGE_START":        {"message", "messageId", "start", []string{"role", "name"}},
	"TEXT_MESSAGE_CONTENT":      {"message", "messageId", "content", nil},
	"TEXT_MESSAGE_END":          {"message", "messageId", "end", nil},
	"TEXT_MESSAGE_CHUNK":        {"message", "messageId", "chunk", []string{"role", "name"}},
	"TOOL_CALL_START":           {"tool call", "toolCallId", "start", []string{"toolCallName", "parentMessageId"}},
	"TOOL_CALL_ARGS":            {"tool call", "toolCallId", "content", nil},
	"TOOL_CALL_END":             {"tool call", "toolCallId", "end", nil},
	"TOOL_CALL_CHUNK":           {"tool call", "toolCallId", "chunk", []string{"toolCallName", "parentMessageId"}},
	"REASONING_START":           {"span", "messageId", "start", nil},
	"REASONING_END":             {"span", "messageId", "end", nil},
	"REASONING_MESSAGE_START":   {"reasoning", "messageId", "start", nil},
	"REASONING_MESSAGE_CONTENT": {"reasoning", "messageId", "content", nil},
	"REASONING_MESSAGE_END":     {"reasoning", "messageId", "end", nil},
	"REASONING_MESSAGE_CHUNK":   {"reasoning", "messageId", "chunk", nil},
	"STEP_STARTED":              {"step", "stepName", "start", nil},
	"STEP_FINISHED":             {"step", "stepName", "end", nil},
}

func partName(kind, id string) string { return kind + " " + strconv.Quote(id) }

// ownedName is the name under which a part has its owner: a span and the messages in it have the same.
func ownedName(kind, id string) string {
	if kind == "span" {
		kind = "reasoning"
	}
	return partName(kind, id)
}

func (c *Checker) checkPart(m dialect.Message) {
	of, ok := partKinds[m.Type]
	if !ok {
		return // RAW and CUSTOM
	}
	id, by := m.String(of.id), ownerOf(m)
	name := partName(of.kind, id)
	if of.kind == "step" && by.tagged { // each agent has its own steps
		name += " of " + by.String()
	}
	p := c.run.parts[name]
	if of.what == "start" {
		if p != nil && p.open {
			c.found.Fail("part-again", "%s", name)
		}
		c.open(m, of.kind, id, name, of.repeats)
		return
	}
	if p == nil || !p.open {
		c.found.Fail("part-not-open", "%s of %s", m.Type, name)
		return
	}
	if of.kind != "step" {
		c.checkOwner(m.Type, by, of.kind, id)
	}
	if of.what == "end" {
		c.end(name, of.kind, id)
	}
}

// open opens a part, or opens it again.
func (c *Checker) open(m dialect.Message, kind, id, name string, repeats []string) {
	if kind != "step" {
		c.takeOwner(m, kind, id)
	}
	c.checkRepeats(m, name, repeats, true)
	c.run.parts[name].open = true
	switch kind {
	case "message", "reasoning":
		c.messages[id] = true
	case "tool call":
		c.calls[id] = &call{name: m.String("toolCallName")}
		c.run.order = append(c.run.order, id)
	}
}

func (c *Checker) end(name, kind, id string) {
	c.run.parts[name].open = false
	if kind == "tool call" {
		c.calls[id].ended = true
	}
}

// checkRepeats checks that the members that describe a part are those of its first start. A chunk that
// goes on may leave them out.
func (c *Checker) checkRepeats(m dialect.Message, name string, repeats []string, isWhole bool) {
	states := map[string]string{}
	for _, member := range repeats {
		if states[member] = m.String(member); member == "role" && !m.Has(member) {
			states[member] = "assistant"
		}
	}
	p := c.run.parts[name]
	if p == nil {
		c.run.parts[name] = &openPart{states: states}
		return
	}
	for _, member := range repeats {
		if (isWhole || m.Has(member)) && states[member] != p.states[member] {
			c.found.Fail("part-differs", "%s: %s is %q, and was %q", name, member, states[member], p.states[member])
		}
	}
}

// takeOwner notes who owns a part. It must be who owned it before, and who owns the message of a call.
func (c *Checker) takeOwner(m dialect.Message, kind, id string) {
	by := ownerOf(m)
	parent, hasParent := c.run.owners[partName("message", m.String("parentMessageId"))]
	if hasParent = hasParent && m.Has("parentMessageId"); hasParent {
		if by.tagged && by != parent {
			c.found.Fail("owner", "%s of %v, in a message of %v", m.Type, by, parent)
			return
		}
		by = parent
	}
	name := ownedName(kind, id)
	if before, known := c.run.owners[name]; !known {
		c.run.owners[name] = by
	} else if (by.tagged || hasParent) && by != before {
		c.found.Fail("owner", "%s of %v, but %s is of %v", m.Type, by, name, before)
	}
}

// checkOwner checks that an event without an owner, or of the owner, goes on with a part.
func (c *Checker) checkOwner(what string, by owner, kind, id string) {
	name := ownedName(kind, id)
	if of, known := c.run.owners[name]; known && by.tagged && by != of {
		c.found.Fail("owner", "%s of %v, but %s is of %v", what, by, name, of)
	}
}

// closeLanes ends what is written in chunks and cannot go on after an event.
func (c *Checker) closeLanes(m dialect.Message) {
	switch m.Type {
	case "TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK", "REASONING_MESSAGE_CHUNK",
		"RAW", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "REASONING_ENCRYPTED_VALUE", "SUBAGENT_STARTED":
	case "RUN_FINISHED", "MESSAGES_SNAPSHOT":
		for of := range c.run.lanes {
			c.closeLane(of)
		}
	default:
		c.closeLane(ownerOf(m))
	}
}

func (c *Checker) closeLane(of owner) {
	if l := c.run.lanes[of]; l != nil {
		delete(c.run.lanes, of)
		c.end(partName(l.kind, l.id), l.kind, l.id)
	}
}

func (c *Checker) checkChunk(m dialect.Message) {
	of := partKinds[m.Type]
	l, by, ok := c.laneOf(m, of.kind, of.id)
	if !ok {
		return
	}
	id, name := m.String(of.id), partName(of.kind, m.String(of.id))
	if l != nil && l.kind == of.kind && (!m.Has(of.id) || l.id == id) {
		c.checkRepeats(m, partName(of.kind, l.id), of.repeats, false)
		return
	}
	c.closeLane(by)
	switch {
	case !m.Has(of.id):
		c.found.Fail("chunk-incomplete", "the first %s has no %s", m.Type, of.id)
		return
	case of.kind == "tool call" && !m.Has("toolCallName"):
		c.found.Fail("chunk-incomplete", "the first %s has no toolCallName", m.Type)
		return
	case c.run.parts[name] != nil && c.run.parts[name].open:
		c.found.Fail("part-again", "%s", name)
	}
	c.open(m, of.kind, id, name, of.repeats)
	c.run.lanes[by] = &lane{of.kind, id}
}

// laneOf returns the lane to which a chunk belongs, and its owner. A chunk with an id goes on with what has it;
// one without is of its sub-agent, of the main agent, or of the only one that writes such a part.
func (c *Checker) laneOf(m dialect.Message, kind, member string) (*lane, owner, bool) {
	by := ownerOf(m)
	var all []owner
	for of, l := range c.run.lanes {
		if l.kind != kind {
			continue
		}
		if all = append(all, of); m.Has(member) && l.id == m.String(member) {
			if by.tagged && by != of {
				c.found.Fail("owner", "%s of %v, but %s is of %v", m.Type, by, partName(kind, l.id), of)
				return nil, of, false
			}
			return l, of, true
		}
	}
	main := c.run.lanes[owner{}]
	switch {
	case m.Has(member) || by.tagged || main != nil && main.kind == kind || len(all) == 0:
	case len(all) == 1:
		by = all[0]
	default:
		c.found.Fail("chunk-ambiguous", "%s without %s and subagentRunId, while %d sub-agents write one", m.Type, member, len(all))
		return nil, by, false
	}
	return c.run.lanes[by], by, true
}

func (c *Checker) checkResult(m dialect.Message) {
	id := m.String("toolCallId")
	message := m.String("messageId")
	c.messages[message] = true
	c.run.owners[partName("message", message)] = ownerOf(m)
	t := c.calls[id]
	switch {
	case t == nil:
		c.found.Advise("tool-unknown", "result of %q", id)
		return
	case c.run.frontend[t.name] && t.name != "":
		c.found.Fail("tool-frontend", "result of %q, a call of %s, which the client executes", id, t.name)
	case t.result:
		c.found.Advise("tool-result-twice", "%q", id)
	case !t.ended:
		c.found.Advise("tool-order", "result of %q before TOOL_CALL_END", id)
	}
	t.result = true
}

func (c *Checker) checkEncrypted(m dialect.Message) {
	id := m.String("entityId")
	if m.String("subtype") == "tool-call" {
		if c.calls[id] == nil {
			c.found.Advise("entity-unknown", "tool call %q", id)
		}
		c.checkOwner(m.Type, ownerOf(m), "tool call", id)
		return
	}
	if !c.messages[id] {
		c.found.Advise("entity-unknown", "message %q", id)
	}
	kind := "message"
	if _, known := c.run.owners[partName(kind, id)]; !known {
		kind = "reasoning"
	}
	c.checkOwner(m.Type, ownerOf(m), kind, id)
}

func (c *Checker) checkActivity(m dialect.Message) {
	id := m.String("messageId")
	content, known := c.activities[id]
	if m.Type == "ACTIVITY_SNAPSHOT" {
		replaces := !m.Has("replace") || m.True("replace")
		if !known || replaces {
			c.activities[id] = valueOf(m.Raw("content"))
			c.run.owners[partName("activity", id)] = ownerOf(m)
		} else {
			c.checkOwner(m.Type, ownerOf(m), "activity", id)
		}
		return
	}
	c.checkOwner(m.Type, ownerOf(m), "activity", id)
	if !known {
		c.found.Advise("activity-unknown", "%q", id)
		return
	}
	next := c.patch(content, m.Raw("patch"))
	if _, ok := next.(map[string]any); !ok {
		c.found.Fail("activity-content", "the content of %q becomes %s", id, dialect.Marshal(next))
		return
	}
	c.activities[id] = next
}

// noteAgent notes the sub-agent that an event names.
func (c *Checker) noteAgent(m dialect.Message) {
	by := ownerOf(m)
	if !by.tagged || m.Type == "SUBAGENT_STARTED" || m.Type == "SUBAGENT_FINISHED" || m.Type == "SUBAGENT_ERROR" {
		return
	}
	of, isPart := partKinds[m.Type]
	switch state := c.run.agents[by.id]; {
	case state == 0:
		c.run.agents[by.id] = named
	case state == agentEnded && (isPart && of.kind != "step" || m.Type == "TOOL_CALL_RESULT"): // the tag of others is only where they come from
		c.found.Advise("agent-ended", "%s of %q", m.Type, by.id)
	}
}

func (c *Checker) checkAgent(m dialect.Message) {
	id := m.String("subagentRunId")
	if m.Type != "SUBAGENT_STARTED" {
		if c.run.agents[id] != agentRuns {
			c.found.Fail("agent-not-open", "%q", id)
		}
		c.run.agents[id] = agentEnded
		return
	}
	switch c.run.agents[id] {
	case named:
		c.found.Fail("agent-late", "%q starts after its first event", id)
	case agentRuns, agentEnded:
		c.found.Fail("agent-again", "%q", id)
	}
	if parent := m.String("parentSubagentRunId"); m.Has("parentSubagentRunId") && c.run.agents[parent] < agentRuns {
		c.found.Fail("agent-unknown", "the parent %q", parent)
	}
	c.run.agents[id] = agentRuns
}
