package codex

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
)

// agentState is one entry of agentsStates, whose keys are threads.
type agentState struct {
	thread  string
	status  string
	message string
}

// statesOf reads agentsStates in the order in which they stand.
func statesOf(v jsontext.Value) []agentState {
	if len(v) == 0 || v.Kind() != '{' {
		return nil
	}
	var all []agentState
	d := jsontext.NewDecoder(bytes.NewReader(v), asItCame)
	_, _ = d.ReadToken() // the value was valid when the line was read
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil {
			break
		}
		id := key.String()
		var s struct {
			Status  str `json:"status"`
			Message str `json:"message"`
		}
		if json.UnmarshalDecode(d, &s) != nil {
			break
		}
		all = append(all, agentState{id, string(s.Status), string(s.Message)})
	}
	return all
}

// agentName is what a sub-agent without a name is called: the beginning of what
// it was told.
func agentName(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	if r := []rune(line); len(r) > 60 {
		return string(r[:60])
	}
	return line
}

// agents links sub-agents to the tool call that made them.
func (t *translator) agents(th *thread, it *item) {
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
		child := t.thread(id)
		child.name, child.toolUse, child.parent = name, string(it.ID), t.subID(th)
		if len(child.past) == 0 || child.on {
			t.task(child, event.TaskRunning, "")
		}
	}
}

// agentEnded takes the item that tells of a sub-agent's end. Its own turn's end
// tells it too, and usually first.
func (t *translator) agentEnded(it *item) {
	id := string(it.AgentThreadID)
	if id == "" || t.main == nil || id == t.main.id || !t.l.TaskOpen(id) {
		return
	}
	if child := t.thread(id); !child.on {
		t.task(child, event.TaskCompleted, child.said)
	}
}
