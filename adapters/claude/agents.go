package claude

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// agent is a sub-agent or a background command: the runtime calls both tasks.
type agent struct {
	id         string // ours: the first that was known of the task's id and the tool call's
	tool, task string
	name       string
	parent     string // the sub-agent that started it
	kind       event.TaskKind
	told       bool             // its task was announced
	resumed    bool             // a message has woken it: the call that sent the message is over at once
	ending     event.TaskStatus // it has ended; the runtime's last word on it is due
}

type agents struct {
	byTool map[string]*agent
	byTask map[string]*agent
	past   []string            // tool calls and tasks that ended, so that what comes late is known
	tools  map[string]toolInfo // open tools, by within
	closed []string            // tools that have their result, by within
}

func newAgents() agents {
	return agents{byTool: map[string]*agent{}, byTask: map[string]*agent{}, tools: map[string]toolInfo{}}
}

func ring(s []string, v string) []string {
	if len(s) >= 256 {
		s = append(s[:0], s[1:]...)
	}
	return append(s, v)
}

func (a *agents) gone(id string) bool { return id != "" && slices.Contains(a.past, id) }

func (a *agents) pastTool(id string)     { a.closed = ring(a.closed, id) }
func (a *agents) wasTool(id string) bool { return slices.Contains(a.closed, id) }

// alive reports whether a task that was told runs.
func (a *agents) alive() bool {
	for _, x := range a.byTask {
		if x.told {
			return true
		}
	}
	return false
}

// forgetTools drops what is known of the open tools of a scope that has ended.
func (t *translator) forgetTools(sub string) {
	for id, i := range t.agents.tools {
		if i.sub == sub {
			delete(t.agents.tools, id)
			t.agents.pastTool(id)
		}
	}
}

// subOf is the sub-agent that a scope is of, or "".
func (t *translator) subOf(s *ledger.Scope) string { return s.Subagent() }

// agentScope is the scope of the sub-agent that a tool call started.
func (t *translator) agentScope(tool, task string, ln *line) *ledger.Scope {
	a := t.agents.byTool[tool]
	if a == nil && task != "" {
		a = t.agents.byTask[task]
	}
	if a == nil {
		if t.agents.gone(tool) || t.agents.gone(task) || t.l.Turn() == nil && t.turn.any {
			return nil // late
		}
		a = &agent{tool: tool, kind: event.TaskSubagent, name: string(ln.SubagentType)}
		t.agents.byTool[tool] = a
	}
	if t.l.Turn() == nil && !t.turn.any {
		t.begin() // a transcript that begins in the middle
	}
	if a.task == "" && task != "" {
		a.task = task
		t.agents.byTask[task] = a
	}
	t.announce(a, string(ln.TaskDescription))
	return t.l.Sub(a.id)
}

// announce gives an agent its id and tells its task, once.
func (t *translator) announce(a *agent, text string) {
	if a.id == "" {
		a.id = first(a.task, a.tool)
	}
	if !a.told {
		a.told = true
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

// task handles the runtime's words on tasks.
func (t *translator) task(ln *line) {
	id := string(ln.TaskID)
	a := t.agents.byTask[id]
	switch ln.Subtype {
	case "task_started":
		t.taskStarted(ln, a)
	case "task_progress":
		if a != nil && a.told && a.ending == "" {
			t.l.Task(t.taskEvent(a, event.TaskRunning, string(ln.Description), ln.Usage))
		}
	case "task_updated":
		if a == nil || ln.Patch == nil {
			return
		}
		if b := ln.Patch.IsBackgrounded; b != nil && *b && !a.told {
			t.announce(a, "")
			if s := t.l.Turn(); s != nil {
				s.Background(a.tool, a.id)
			}
		}
		if st, ended := taskEnds[string(ln.Patch.Status)]; ended {
			a.ending = st
			if t.client != nil && !t.mail.spoken && a.told {
				// An older version keeps its last word on it until the turn has ended.
				t.taskEnd(a, st, "", nil)
			}
		}
	case "task_notification":
		if a != nil {
			st, known := taskEnds[string(ln.Status)]
			if !known {
				st = first2(a.ending, event.TaskCompleted)
			}
			t.taskEnd(a, st, string(ln.Summary), ln.Usage)
		}
	case "background_tasks_changed":
		for task, a := range t.agents.byTask {
			if a.ending != "" && !slices.ContainsFunc(ln.Tasks, func(r taskRef) bool { return r.TaskID == task }) {
				t.taskEnd(a, a.ending, "", nil)
			}
		}
	}
}

func first2(a, b event.TaskStatus) event.TaskStatus {
	if a != "" {
		return a
	}
	return b
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
		for key, i := range t.agents.tools { // few
			if key == within(i.sub, tool) {
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
	a.task, a.ending = task, ""
	a.resumed = t.agents.gone(task)
	a.name = first(a.name, string(ln.SubagentType), string(ln.Description))
	t.agents.byTask[task] = a
	t.agents.past = slices.DeleteFunc(t.agents.past, func(p string) bool { return p == task })
	// A command that is only slow is no task: it tells so later if it becomes one.
	if a.kind == event.TaskSubagent || ln.IsBackgrounded != nil && *ln.IsBackgrounded {
		t.announce(a, string(ln.Description))
	}
}

// launched follows a tool's result: it may be the start or the end of a task.
func (t *translator) launched(tool string, d *event.ToolResult) {
	a := t.agents.byTool[tool]
	if a == nil || a.resumed {
		return
	}
	if d.Status == event.ToolBackgrounded {
		t.announce(a, "")
		return
	}
	st := event.TaskCompleted
	switch d.Status {
	case event.ToolInterrupted:
		st = event.TaskInterrupted
	case event.ToolError, event.ToolDenied:
		st = event.TaskFailed
	}
	t.taskEnd(a, st, "", nil)
}

// taskEnd closes what a task left open and tells its end.
func (t *translator) taskEnd(a *agent, st event.TaskStatus, text string, u *usage) {
	delete(t.agents.byTool, a.tool)
	delete(t.agents.byTask, a.task)
	for _, id := range []string{a.task, a.tool} {
		if id != "" {
			t.agents.past = ring(t.agents.past, id)
		}
	}
	if !a.told {
		return
	}
	if a.kind == event.TaskSubagent {
		t.closeAsksOf(a.id)
		t.l.EndSub(a.id)
		t.forgetTools(a.id)
	}
	t.turn.notified = t.turn.notified || t.l.Turn() == nil
	t.l.Task(t.taskEvent(a, st, text, u))
}
