package codex

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// agentState is one entry of agentsStates, whose keys are thread ids.
type agentState struct {
	thread  string
	status  string
	message string
}

// parseAgentStates returns the entries of agentsStates in wire order.
func parseAgentStates(v jsontext.Value) []agentState {
	if len(v) == 0 || v.Kind() != '{' {
		return nil
	}
	var all []agentState
	d := jsontext.NewDecoder(bytes.NewReader(v), lenient.Options)
	_, _ = d.ReadToken() // the value was valid when the line was decoded
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			break
		}
		id := key.String()
		var s struct {
			Status  lenient.Str `json:"status"`
			Message lenient.Str `json:"message"`
		}
		if json.UnmarshalDecode(d, &s) != nil {
			break
		}
		all = append(all, agentState{id, string(s.Status), string(s.Message)})
	}
	return all
}

// agentName returns the name of an unnamed sub-agent: the beginning of its
// prompt.
func agentName(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if r := []rune(line); len(r) > 60 {
		return string(r[:60])
	}
	return line
}

// linkSubagents links sub-agents to the tool call that started them.
func (t *translator) linkSubagents(th *thread, it *item) {
	var ids []string
	name := ""
	switch {
	case it.Type == "collabAgentToolCall" && it.Tool == "spawnAgent":
		for _, id := range it.ReceiverThreadIDs {
			ids = append(ids, string(id))
		}
		name = agentName(string(it.Prompt))
	case it.Type == "subAgentActivity" && it.Kind == "started":
		ids, name = []string{string(it.AgentThreadID)}, string(it.AgentPath)
	}
	for _, id := range ids {
		if id == "" || id == th.id {
			continue
		}
		child := t.threadOf(id)
		child.name, child.toolUse, child.parent = name, string(it.ID), t.subID(th)
		if len(child.endedTurns) == 0 || child.running {
			t.emitTask(child, event.TaskRunning, "")
		}
	}
}

// subagentCompleted handles the item that reports a sub-agent's end. The end of
// its own turn usually reports it first.
func (t *translator) subagentCompleted(it *item) {
	id := string(it.AgentThreadID)
	if id == "" || t.main == nil || id == t.main.id || !t.l.TaskOpen(id) {
		return
	}
	if child := t.threadOf(id); !child.running {
		t.emitTask(child, event.TaskCompleted, child.lastText)
	}
}
