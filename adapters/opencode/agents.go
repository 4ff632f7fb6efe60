package opencode

import "github.com/turnspec/turnspec/adapters/event"

// sessionCreated handles a new session: that of a sub-agent if it has a parent.
func (t *translator) sessionCreated(s info) {
	parent := t.agents[string(s.ParentID)]
	if s.ParentID == "" || parent == nil || t.agents[string(s.ID)] != nil {
		return
	}
	a := newAgent(string(s.ID))
	a.sub, a.parent = true, parent
	t.agents[a.id] = a
	// The call that started it names it later, if several run.
	for _, call := range parent.calls {
		if tool := parent.tools[call]; tool != nil && tool.spawns && tool.agent == "" {
			t.linkSubagent(a, tool)
			return
		}
	}
}

// linkSubagent links a sub-agent to the tool call that started it.
func (t *translator) linkSubagent(a *agent, tool *runningTool) {
	if tool.agent == a.id {
		return
	}
	tool.agent, a.tool, a.name = a.id, tool.id, tool.name
	t.emitTask(a, event.TaskRunning, "")
}

func (t *translator) emitTask(a *agent, status event.TaskStatus, text string) {
	d := event.Task{TaskID: a.id, Kind: event.TaskSubagent, ToolUseID: a.tool, Name: a.name, Status: status, Text: text}
	if a.parent != nil && a.parent.sub {
		d.ParentID = a.parent.id
	}
	t.l.Task(d)
}

// subagentEnded handles the end of a sub-agent.
func (t *translator) subagentEnded(a *agent) {
	if a.ended {
		return
	}
	a.ended = true
	t.l.EndSub(a.id)
	status := event.TaskCompleted
	switch {
	case a.aborted || t.main.aborted:
		status = event.TaskInterrupted
	case a.failure != nil:
		status = event.TaskFailed
	}
	t.emitTask(a, status, a.text)
	delete(t.agents, a.id)
	t.others = remember(t.others, a.id) // events may follow
}
