package model

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/fixtures"
)

// subagentInput is the neutral input of a subagent call. If it has none of
// wait, tell, close, resume and interrupt, it starts a sub-agent.
type subagentInput struct {
	Name       string `json:"name"`
	Prompt     string `json:"prompt"`
	Type       string `json:"type"` // as a file of the workspace defines it
	Background *bool  `json:"background"`
	Wait       bool   `json:"wait"`
	Tell       string `json:"tell"`
	Close      bool   `json:"close"`
	Resume     bool   `json:"resume"`
	Interrupt  bool   `json:"interrupt"`
}

// agentID finds a runtime's id of a sub-agent in the result of the call that
// started it: Codex returns JSON, Claude Code prose.
var agentID = regexp.MustCompile(`(?:"agent_id":"|"task_name":"|agentId: )([0-9A-Za-z/_-]+)`)

func agentIDIn(result string) string {
	if m := agentID.FindStringSubmatch(result); m != nil {
		return m[1]
	}
	return ""
}

// agentID is the runtime's id of a sub-agent that was started before.
func (o offer) agentID(c *fixtures.ToolCall, name string) (string, error) {
	if id := o.agents[name]; id != "" {
		return id, nil
	}
	return "", fmt.Errorf("tool %s %q: the runtime has given no id to a sub-agent %q", c.Tool, c.ID, name)
}

func claudeSubagent(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := decodeInput[subagentInput](c)
	if err != nil {
		return wireCall{}, err
	}
	find := func(names ...string) (offered, error) {
		t, ok := o.findTool(names...)
		if !ok {
			return t, notOffered(c, o, names...)
		}
		return t, nil
	}
	switch {
	case in.Wait, in.Resume, in.Interrupt:
		return wireCall{}, fmt.Errorf("tool %s %q: wait, resume, interrupt: the runtime has no tool for it", c.Tool, c.ID)
	case in.Tell != "":
		t, err := find("SendMessage")
		id, idErr := o.agentID(c, in.Name)
		if err := errors.Join(err, idErr); err != nil {
			return wireCall{}, err
		}
		return jsonCall(t, struct {
			To      string `json:"to"`
			Summary string `json:"summary"`
			Message string `json:"message"`
		}{id, in.Name, in.Tell})
	case in.Close:
		t, err := find("TaskStop")
		id, idErr := o.agentID(c, in.Name)
		if err := errors.Join(err, idErr); err != nil {
			return wireCall{}, err
		}
		return jsonCall(t, struct {
			Task string `json:"task_id"`
		}{id})
	}
	t, err := find("Agent", "Task")
	if err != nil {
		return wireCall{}, err
	}
	return jsonCall(t, struct {
		Description string `json:"description"`
		Prompt      string `json:"prompt"`
		Type        string `json:"subagent_type"`
		Background  *bool  `json:"run_in_background,omitzero"`
	}{in.Name, in.Prompt, cmp.Or(in.Type, "general-purpose"), in.Background})
}

// codexSubagent calls a tool of one of two kinds: the first names a sub-agent by the
// id of its thread, the second by a path.
func codexSubagent(c *fixtures.ToolCall, o offer) (wireCall, error) {
	in, err := decodeInput[subagentInput](c)
	if err != nil {
		return wireCall{}, err
	}
	find := func(names ...string) (offered, error) {
		if t, ok := o.findTool(names...); ok {
			return t, nil
		}
		if slices.Contains(o.deferred, "multi_agent_v1") {
			return offered{kind: "function", namespace: "multi_agent_v1", name: names[0]}, nil
		}
		return offered{}, notOffered(c, o, names...)
	}
	type target struct {
		Target  string `json:"target,omitzero"`
		ID      string `json:"id,omitzero"`
		Message string `json:"message,omitzero"`
	}
	switch {
	case in.Wait:
		return codexWait(c, o, in, find)
	case in.Tell != "", in.Close, in.Resume, in.Interrupt:
		names := []string{"send_input", "followup_task"}
		switch {
		case in.Close:
			names = []string{"close_agent"}
		case in.Resume:
			names = []string{"resume_agent"}
		case in.Interrupt:
			names = []string{"interrupt_agent"}
		}
		t, err := find(names...)
		id, idErr := o.agentID(c, in.Name)
		if err := errors.Join(err, idErr); err != nil {
			return wireCall{}, err
		}
		out := target{Target: id, Message: in.Tell}
		if in.Resume || o.oldAgents() && (in.Tell != "" || in.Close) {
			out.Target, out.ID = "", id
		}
		return jsonCall(t, out)
	}
	t, err := find("spawn_agent")
	if err != nil {
		return wireCall{}, err
	}
	if t.namespace == "collaboration" {
		return jsonCall(t, struct {
			Name    string `json:"task_name"`
			Message string `json:"message"`
			Fork    string `json:"fork_turns"`
			Type    string `json:"agent_type,omitzero"`
		}{taskName(in.Name), in.Prompt, "none", in.Type})
	}
	return jsonCall(t, struct {
		Message string `json:"message"`
		Type    string `json:"agent_type,omitzero"`
	}{in.Prompt, in.Type})
}

// codexWait waits for certain sub-agents with tools of the first kind, for any with
// those of the second.
func codexWait(c *fixtures.ToolCall, o offer, in subagentInput, find func(...string) (offered, error)) (wireCall, error) {
	t, err := find("wait_agent", "wait")
	if err != nil {
		return wireCall{}, err
	}
	out := struct {
		Targets []string `json:"targets,omitzero"`
		IDs     []string `json:"ids,omitzero"`
		Timeout int      `json:"timeout_ms"`
	}{Timeout: yieldLong}
	if t.namespace != "collaboration" {
		id, err := o.agentID(c, in.Name)
		if err != nil {
			return wireCall{}, err
		}
		if out.Targets = []string{id}; o.oldAgents() {
			out.Targets, out.IDs = nil, out.Targets
		}
	}
	return jsonCall(t, out)
}

// oldAgents reports whether the tools take id and ids instead of target and targets,
// as in Codex 0.98, which calls the tool wait instead of wait_agent.
func (o offer) oldAgents() bool {
	_, ok := o.findTool("wait")
	return ok
}

// spawnOf reads a subagent call that starts a sub-agent.
func spawnOf(c *fixtures.ToolCall) (spawn, bool) {
	var in subagentInput
	// A mistake in the input is reported when the line is used.
	if c.Tool != "subagent" || json.Unmarshal(c.Input, &in) != nil || in.Prompt == "" {
		return spawn{}, false
	}
	return spawn{name: in.Name, prompt: in.Prompt, call: c.ID}, true
}
