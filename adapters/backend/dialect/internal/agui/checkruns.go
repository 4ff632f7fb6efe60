package agui

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

func (c *Checker) begin() {
	c.phase = running
	c.run = &openRun{
		parts: map[string]*openPart{}, owners: map[string]owner{}, lanes: map[owner]*lane{},
		agents: map[string]agentState{}, frontend: map[string]bool{},
	}
	if c.runs == nil {
		c.runs, c.messages, c.calls, c.activities = map[string]bool{}, map[string]bool{}, map[string]*call{}, map[string]any{}
		c.state = map[string]any{}
	}
}

func (c *Checker) start(m dialect.Message) {
	if c.phase == running {
		c.found.Fail("run-twice", "RUN_STARTED within a run")
	}
	c.begin()
	id, thread := m.String("runId"), m.String("threadId")
	if c.runs[id] {
		c.found.Advise("run-again", "runId %q", id)
	}
	if len(c.runs) > 0 && thread != c.thread {
		c.found.Fail("run-other", "a run on thread %q, after one on thread %q", thread, c.thread)
	}
	c.runs[id], c.id, c.thread = true, id, thread
	version := m.String("protocolVersion")
	switch c.newer = m.Has("protocolVersion") && version != ProtocolVersion && version != "1.1"; {
	case c.newer:
		c.found.Advise("version", "protocolVersion %q is not known; 1.0 and 1.1 are", version)
	case version == "":
		c.found.Advise("version", "RUN_STARTED without protocolVersion")
	}
	var input struct {
		State    event.Raw `json:"state"`
		Messages event.Raw `json:"messages"`
		Tools    []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if m.Has("input") && json.Unmarshal(m.Raw("input"), &input) == nil {
		if c.takeMessages(input.Messages); input.State != nil {
			c.state = valueOf(input.State)
		}
		for _, tool := range input.Tools {
			c.run.frontend[tool.Name] = true
		}
	}
}

// outcome is how a run ended.
type outcome struct {
	Type       string   `json:"type"`
	Pending    []string `json:"pendingToolCallIds"`
	Interrupts []struct {
		ID string `json:"id"`
	} `json:"interrupts"`
}

func (c *Checker) finish(m dialect.Message) {
	if len(c.runs) > 0 && (m.String("runId") != c.id || m.String("threadId") != c.thread) {
		c.found.Fail("run-other", "RUN_FINISHED of run %q on thread %q", m.String("runId"), m.String("threadId"))
	}
	for _, name := range slices.Sorted(maps.Keys(c.run.parts)) {
		if c.run.parts[name].open {
			c.found.Fail("part-open", "%s", name)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.run.agents)) {
		if c.run.agents[id] == agentRuns {
			c.found.Fail("agent-open", "%q", id)
		}
	}
	var o outcome
	_ = json.Unmarshal(m.Raw("outcome"), &o)
	switch {
	case !m.Has("outcome"), o.Type == "success":
		c.checkPending(o.Pending)
	case o.Type == "cancelled" && m.Has("result"):
		c.found.Advise("cancelled-result", "a cancelled run has no result")
	case o.Type == "interrupt":
		c.checkInterrupts(o)
	}
	c.checkUsage(m)
	c.phase = finished
}

func (c *Checker) checkInterrupts(o outcome) {
	if len(o.Interrupts) == 0 {
		c.found.Fail("interrupt-missing", "the list of interrupts is empty")
	}
	seen := map[string]bool{}
	for _, i := range o.Interrupts {
		if seen[i.ID] {
			c.found.Fail("interrupt-again", "%q", i.ID)
		}
		seen[i.ID] = true
	}
}

// checkPending compares the calls that a run names as pending with those that have no result.
func (c *Checker) checkPending(listed []string) {
	var pending []string
	for _, id := range c.run.order {
		if !c.calls[id].result && !slices.Contains(pending, id) {
			pending = append(pending, id)
		}
	}
	switch {
	case len(listed) > 0 && !slices.Equal(slices.Sorted(slices.Values(listed)), slices.Sorted(slices.Values(pending))):
		c.found.Fail("tool-pending", "the run names %q as pending, and %q have no result", listed, pending)
	case len(listed) == 0:
		for _, id := range pending {
			c.found.Advise("tool-open", "%q has no result, and is not named as pending", id)
		}
	}
}

func (c *Checker) checkUsage(m dialect.Message) {
	var usage []map[string]event.Raw
	if json.Unmarshal(m.Raw("usage"), &usage) != nil {
		return
	}
	seen := map[string]bool{}
	for _, u := range usage {
		count := func(name string) (n float64, known bool) { return n, json.Unmarshal(u[name], &n) == nil }
		in, knowsIn := count("inputTokens")
		out, knowsOut := count("outputTokens")
		total, knowsTotal := count("totalTokens")
		reasoning, _ := count("reasoningTokens")
		read, _ := count("cachedInputTokens")
		written, _ := count("cacheWriteInputTokens")
		switch {
		case knowsIn && in >= 0 && read+written > in:
			c.found.Fail("usage", "%v tokens are read from a cache and %v written to it, of %v", read, written, in)
		case knowsOut && out >= 0 && reasoning > out:
			c.found.Fail("usage", "%v tokens are of reasoning, of %v", reasoning, out)
		case knowsIn && knowsOut && knowsTotal && in+out != total:
			c.found.Fail("usage", "%v and %v tokens are not %v", in, out, total)
		}
		of := string(u["provider"]) + " " + string(u["model"])
		if seen[of] {
			c.found.Fail("usage", "two entries are of %s", of)
		}
		seen[of] = true
	}
}

// takeMessages takes the messages that a snapshot or an input states.
func (c *Checker) takeMessages(raw event.Raw) {
	var messages []struct {
		ID      string    `json:"id"`
		Role    string    `json:"role"`
		Agent   *string   `json:"subagentRunId"`
		Content event.Raw `json:"content"`
		CallID  string    `json:"toolCallId"`
		Calls   []struct {
			ID string `json:"id"`
		} `json:"toolCalls"`
	}
	_ = json.Unmarshal(raw, &messages)
	for _, m := range messages {
		var of owner
		if m.Agent != nil {
			of = owner{true, *m.Agent}
		}
		kind := "message"
		if m.Role == "reasoning" || m.Role == "activity" {
			kind = m.Role
		}
		c.run.owners[partName(kind, m.ID)] = of
		c.messages[m.ID] = true
		if m.Role == "activity" {
			c.activities[m.ID] = valueOf(m.Content)
		}
		if m.Role == "tool" && c.calls[m.CallID] != nil {
			c.calls[m.CallID].result = true
		}
		for _, t := range m.Calls {
			c.run.owners[partName("tool call", t.ID)] = of
			if c.calls[t.ID] == nil {
				c.calls[t.ID] = &call{ended: true}
			}
		}
	}
}

func valueOf(raw event.Raw) (v any) {
	_ = json.Unmarshal(raw, &v)
	return v
}
