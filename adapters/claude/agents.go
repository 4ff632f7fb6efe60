package claude

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// agent is a sub-agent or a background command. The runtime calls both tasks.
type agent struct {
	id         string // ours: the task id or the tool call's id, whichever was seen first
	tool, task string
	name       string
	parent     string // the sub-agent that started it
	kind       event.TaskKind
	announced  bool             // its task was emitted
	resumed    bool             // restarted by a message; the tool call that sent the message ends at once
	endStatus  event.TaskStatus // set once it has ended, while the runtime's final notification is due
}

type agents struct {
	byTool     map[string]*agent
	byTask     map[string]*agent
	ended      []string            // ended tool calls and tasks, to detect late lines
	openTools  map[string]toolInfo // open tools, by toolKey
	endedTools []string            // tools that have a result, by toolKey
}

func newAgents() agents {
	return agents{byTool: map[string]*agent{}, byTask: map[string]*agent{}, openTools: map[string]toolInfo{}}
}

func appendBounded(s []string, v string) []string {
	if len(s) >= 256 {
		s = append(s[:0], s[1:]...)
	}
	return append(s, v)
}

func (a *agents) hasEnded(id string) bool { return id != "" && slices.Contains(a.ended, id) }

func (a *agents) noteEndedTool(id string)  { a.endedTools = appendBounded(a.endedTools, id) }
func (a *agents) toolEnded(id string) bool { return slices.Contains(a.endedTools, id) }

// anyRunning reports whether an announced task runs.
func (a *agents) anyRunning() bool {
	for _, x := range a.byTask {
		if x.announced {
			return true
		}
	}
	return false
}

// dropTools removes the open tools of a scope that has ended.
func (t *translator) dropTools(sub string) {
	for id, i := range t.agents.openTools {
		if i.sub == sub {
			delete(t.agents.openTools, id)
			t.agents.noteEndedTool(id)
		}
	}
}

// agentScope returns the scope of the sub-agent that a tool call started, or
// nil if the line is late.
func (t *translator) agentScope(tool, task string, ln *line) *ledger.Scope {
	a := t.agents.byTool[tool]
	if a == nil && task != "" {
		a = t.agents.byTask[task]
	}
	if a == nil {
		if t.agents.hasEnded(tool) || t.agents.hasEnded(task) || t.l.Turn() == nil && t.turn.anyTurn {
			return nil
		}
		a = &agent{tool: tool, kind: event.TaskSubagent, name: string(ln.SubagentType)}
		t.agents.byTool[tool] = a
	}
	if t.l.Turn() == nil && !t.turn.anyTurn {
		t.startTurn() // a transcript that begins in the middle
	}
	if a.task == "" && task != "" {
		a.task = task
		t.agents.byTask[task] = a
	}
	t.announceTask(a, string(ln.TaskDescription))
	return t.l.Sub(a.id)
}

// announceTask sets the agent's id and emits its task, once.
func (t *translator) announceTask(a *agent, text string) {
	if a.id == "" {
		a.id = cmp.Or(a.task, a.tool)
	}
	if !a.announced {
		a.announced = true
		t.l.Task(t.taskEvent(a, event.TaskRunning, text, nil))
	}
}

func (t *translator) taskEvent(a *agent, st event.TaskStatus, text string, u *usage) event.Task {
	d := event.Task{TaskID: a.id, Kind: a.kind, ParentID: a.parent, ToolUseID: a.tool, Name: a.name, Status: st, Text: text}
	if u != nil && u.Total > 0 {
		d.Usage = &event.Tokens{Total: int64(u.Total)}
	}
	return d
}

// handleTask handles system messages about tasks.
func (t *translator) handleTask(ln *line) {
	id := string(ln.TaskID)
	a := t.agents.byTask[id]
	switch ln.Subtype {
	case "task_started":
		t.taskStarted(ln, a)
	case "task_progress":
		if a != nil && a.announced && a.endStatus == "" {
			t.l.Task(t.taskEvent(a, event.TaskRunning, string(ln.Description), ln.Usage))
		}
	case "task_updated":
		if a == nil || ln.Patch == nil {
			return
		}
		if b := ln.Patch.IsBackgrounded; b != nil && *b && !a.announced {
			t.announceTask(a, "")
			if s := t.l.Turn(); s != nil {
				s.Background(a.tool, a.id)
			}
		}
		if st, ended := taskEnds[string(ln.Patch.Status)]; ended {
			a.endStatus = st
			if !t.queue.hasLifecycle && a.announced {
				// Older versions send the final notification only after the
				// turn has ended.
				t.endTask(a, st, "", nil)
			}
		}
	case "task_notification":
		t.turn.taskEnded = t.turn.taskEnded || t.l.Turn() == nil
		if a != nil {
			st, known := taskEnds[string(ln.Status)]
			if !known {
				st = cmp.Or(a.endStatus, event.TaskCompleted)
			}
			t.endTask(a, st, string(ln.Summary), ln.Usage)
		}
	case "background_tasks_changed":
		for task, a := range t.agents.byTask {
			if a.endStatus != "" && !slices.ContainsFunc(ln.Tasks, func(r taskRef) bool { return r.TaskID == task }) {
				t.endTask(a, a.endStatus, "", nil)
			}
		}
	}
}

var taskEnds = map[string]event.TaskStatus{
	"completed": event.TaskCompleted, "failed": event.TaskFailed, "killed": event.TaskStopped,
	"stopped": event.TaskStopped, "cancelled": event.TaskStopped,
}

func (t *translator) taskStarted(ln *line, a *agent) {
	task, tool := string(ln.TaskID), string(ln.ToolUseID)
	if a == nil && tool != "" {
		a = t.agents.byTool[tool]
	}
	if a == nil {
		a = &agent{tool: tool, kind: event.TaskCommand}
		for key, i := range t.agents.openTools {
			if key == toolKey(i.sub, tool) {
				a.parent = i.sub
			}
		}
		if ln.TaskType == "local_agent" {
			a.kind = event.TaskSubagent
		}
	}
	if tool != "" {
		t.agents.byTool[tool] = a
	}
	a.task, a.endStatus = task, ""
	a.resumed = t.agents.hasEnded(task)
	a.name = cmp.Or(a.name, string(ln.SubagentType), string(ln.Description))
	t.agents.byTask[task] = a
	t.agents.ended = slices.DeleteFunc(t.agents.ended, func(p string) bool { return p == task })
	// A slow foreground command is no task. If it becomes one, task_updated
	// reports it later.
	if a.kind == event.TaskSubagent || ln.IsBackgrounded != nil && *ln.IsBackgrounded {
		t.announceTask(a, string(ln.Description))
	}
}

// taskAfterTool updates a task after a tool's result, which may start or end
// the task.
func (t *translator) taskAfterTool(tool string, d *event.ToolResult) {
	a := t.agents.byTool[tool]
	if a == nil || a.resumed {
		return
	}
	if d.Status == event.ToolBackgrounded {
		t.announceTask(a, "")
		return
	}
	st := event.TaskCompleted
	switch d.Status {
	case event.ToolInterrupted:
		st = event.TaskInterrupted
	case event.ToolError, event.ToolDenied:
		st = event.TaskFailed
	}
	t.endTask(a, st, "", nil)
}

// endTask closes what a task left open and emits its end.
func (t *translator) endTask(a *agent, st event.TaskStatus, text string, u *usage) {
	delete(t.agents.byTool, a.tool)
	delete(t.agents.byTask, a.task)
	for _, id := range []string{a.task, a.tool} {
		if id != "" {
			t.agents.ended = appendBounded(t.agents.ended, id)
		}
	}
	if !a.announced {
		return
	}
	if a.kind == event.TaskSubagent {
		t.cancelQuestions(a.id)
		t.l.EndSub(a.id)
		t.dropTools(a.id)
	}
	t.turn.taskEnded = t.turn.taskEnded || t.l.Turn() == nil
	t.l.Task(t.taskEvent(a, st, text, u))
}
