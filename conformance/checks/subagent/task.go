package subagent

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Task is the check subagent.task.
var Task = &conformance.Check{
	ID: "subagent.task", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges: []string{
		"task.task_id", "task.kind", "task.status", "task.tool_use_id", "task.parent_id", "task.name", "task.text",
		"task.usage.input", "task.usage.output", "task.usage.total", "tool_start.subagent_name",
	},
	Needs:    []string{"task", "task.status"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Copy text, figures and status of a task from the runtime's own reports, with the ids of the sub-agent and of the call that started it.",
	Sentence: "A task holds the subagent_id, the call and the parent of its work, its text and figures are the runtime's, and it ends as the runtime reports.",
	Judge:    judgeTaskFields,
}

func judgeTaskFields(t *conformance.Trial, f *conformance.Finding) {
	calls := runindex.AllCalls(t.Run)
	tasks := map[string]event.Task{} // the last event of each
	for e, d := range runindex.EventsOf[event.Task](t.Run) {
		f.Asserted(1)
		tasks[d.TaskID] = d
		i := slices.IndexFunc(calls, func(c fixtures.OutputPart) bool { return runindex.SameCall(t.Run, d.ToolUseID, c.ID) })
		switch {
		case d.ToolUseID == "":
		case i < 0 && !runindex.States(t.Run, e, d.ToolUseID):
			f.At(e, "task %s: the model made no call %q", d.TaskID, d.ToolUseID)
		case i >= 0 && (calls[i].Tool == "shell" && d.Kind != event.TaskCommand || calls[i].Tool == "subagent" && d.Kind != event.TaskSubagent):
			f.At(e, "task %s: its kind is %q, but its call %s is of the tool %s", d.TaskID, d.Kind, d.ToolUseID, calls[i].Tool)
		}
		for field, text := range map[string]string{"name": d.Name, "text": d.Text} {
			if text != "" && !runindex.States(t.Run, e, text) {
				f.At(e, "task %s: its %s is %q, which the runtime did not write", d.TaskID, field, runindex.Clip(text))
			}
		}
		if u := d.Usage; u != nil {
			for field, n := range map[string]int64{"input": u.Input, "output": u.Output, "total": u.Total} {
				if n != 0 && !runindex.StatesNumber(t.Run, e, float64(n)) {
					f.At(e, "task %s: usage.%s is %d, which the runtime did not write", d.TaskID, field, n)
				}
			}
		}
		if want := endOfTask(t.Run, e, d); want != "" && d.Status != event.TaskRunning && d.Status != want && (want != event.TaskStopped || d.Status != event.TaskInterrupted) {
			f.At(e, "task %s: its status is %s, but the runtime reports %s", d.TaskID, d.Status, want)
		}
	}
	judgeTaskMembers(t, f)
	judgeTaskIDs(t, tasks, f)
	judgeBackgrounded(t, tasks, f)
	for e, d := range runindex.EventsOf[event.ToolStart](t.Run) {
		if d.SubagentSpawn {
			runindex.Demand(t, f, e, "tool_start.subagent_name", d.SubagentName != "", "which agent the call starts")
		}
		if d.SubagentName == "" || d.SubagentName == defaultName {
			continue
		}
		f.Asserted(1)
		if !runindex.States(t.Run, e, d.SubagentName) {
			f.At(e, "tool %s: subagent_name is %q, which the runtime did not write", d.ToolUseID, d.SubagentName)
		}
	}
}

// judgeTaskMembers demands what the runtime states about a task that has ended: which call
// started it, its name, its last text and its tokens.
func judgeTaskMembers(t *conformance.Trial, f *conformance.Finding) {
	names := map[string]string{}
	for _, d := range runindex.EventsOf[event.ToolStart](t.Run) {
		names[d.ToolUseID] = d.SubagentName
	}
	spawned := slices.ContainsFunc(runindex.AllCalls(t.Run), func(c fixtures.OutputPart) bool { return c.Tool == "subagent" })
	for e, d := range runindex.EventsOf[event.Task](t.Run) {
		if d.Kind == event.TaskCommand && d.Status != event.TaskRunning && calledByAgent(t.Run, d.ToolUseID) {
			runindex.Demand(t, f, e, "task.parent_id", d.ParentID != "", "the call "+d.ToolUseID+" of a sub-agent")
		}
		if d.Kind != event.TaskSubagent || d.Status == event.TaskRunning {
			continue
		}
		if spawned {
			runindex.Demand(t, f, e, "task.tool_use_id", d.ToolUseID != "", "the call that started the agent")
		}
		if spawned && calledByAgent(t.Run, d.ToolUseID) {
			runindex.Demand(t, f, e, "task.parent_id", d.ParentID != "", "the call "+d.ToolUseID+" of another agent")
		}
		if name := names[d.ToolUseID]; name != "" {
			runindex.Demand(t, f, e, "task.name", d.Name != "", name)
		}
		if text := lastTextOf(t.Run, d.ToolUseID); d.Status == event.TaskCompleted && text != "" && runindex.States(t.Run, e, text) && !endsLater(t.Run, e, d.TaskID) {
			runindex.Demand(t, f, e, "task.text", d.Text != "", text)
		}
		if d.Status == event.TaskCompleted && endOfTask(t.Run, e, d) == "" && !endsLater(t.Run, e, d.TaskID) && modelFailed(t.Run, d.ToolUseID) {
			f.Asserted(1)
			f.At(e, "task %s: its status is %s, but the model failed for the agent", d.TaskID, d.Status)
		}
		if used := usedBy(t.Run, e, d.TaskID); used != nil {
			runindex.Demand(t, f, e, "task.usage", d.Usage != nil, strconv.FormatInt(used.Total, 10)+" tokens")
			if d.Usage != nil && d.Usage.Total != used.Total {
				f.At(e, "task %s: usage.total is %d, but the runtime states %d", d.TaskID, d.Usage.Total, used.Total)
			}
		}
	}
}

// calledByAgent reports whether a line shows that a sub-agent made a call.
func calledByAgent(r *conformance.Run, call string) bool {
	id := r.Recorded(call)
	return id != "" && slices.ContainsFunc(runindex.Of(r).Lines(), func(l runindex.Line) bool {
		return (l.Agent != "" || !l.Main) && !l.Other && slices.ContainsFunc(l.Tools, func(t wire.Tool) bool { return t.ID == id })
	})
}

// lastTextOf returns the last text that the model wrote for the agent that a call started; ""
// if it wrote none.
func lastTextOf(r *conformance.Run, call string) (text string) {
	if len(r.Played) == 0 {
		return "" // whether the runtime shows it is not known
	}
	for _, q := range requestsOf(r, call) {
		for _, part := range q.Output {
			text = cmp.Or(part.Text, text)
		}
	}
	return text
}

// modelFailed reports whether the last reply of the model to the agent that a call started is a
// failure.
func modelFailed(r *conformance.Run, call string) bool {
	all := requestsOf(r, call)
	return len(all) > 0 && all[len(all)-1].Ended == fixtures.EndedFailed
}

// requestsOf returns the requests to the model of the agent that a call started.
func requestsOf(r *conformance.Run, call string) (out []fixtures.Request) {
	for _, c := range runindex.AllCalls(r) {
		var in struct {
			Name string `json:"name"`
		}
		if c.Tool != "subagent" || !runindex.SameCall(r, call, c.ID) || !runindex.Decode(c.Input, &in) {
			continue
		}
		for _, q := range r.Witness {
			if q.Agent == in.Name {
				out = append(out, q)
			}
		}
	}
	return out
}

// endsLater reports whether the line with the result of a task is played after an event: older
// versions report the end of the task before.
func endsLater(r *conformance.Run, e conformance.Event, task string) bool {
	lines := runindex.Of(r).Lines()
	id := r.Recorded(task)
	return slices.ContainsFunc(lines[linesBefore(r, e, id):], func(l runindex.Line) bool { return l.Kind == wire.TaskEnd && l.Task == id })
}

// maxDelay is how late an adapter may emit the event of a line.
const maxDelay = 100 * time.Millisecond

// linesBefore returns how many lines had been played when the line of the end of a task came. A
// runtime may report the end in several lines, one right after the other (Claude Code 2.1.197 in
// three), and an adapter that emits its events late may have taken the first.
func linesBefore(r *conformance.Run, e conformance.Event, id string) int {
	lines := runindex.Of(r).Lines()
	n := min(e.Line, len(lines))
	if n > 0 && n <= len(r.Played) && e.At == r.Played[n-1].At {
		return n // it came with its line
	}
	first := n
	for i := min(n, len(r.Played)) - 1; i >= 0 && e.At-r.Played[i].At < maxDelay; i-- {
		if lines[i].Task == id && (lines[i].Kind == wire.TaskEnd || lines[i].Kind == "") {
			first = i + 1
		}
	}
	return first
}

// usedBy returns the tokens that the wire had stated for a task when an event came, or nil.
func usedBy(r *conformance.Run, e conformance.Event, task string) *wire.Tokens {
	lines, id := runindex.Of(r).Lines(), r.Recorded(task)
	for i := linesBefore(r, e, id) - 1; i >= 0; i-- {
		if l := &lines[i]; l.Used != nil && (l.Task == id || l.Task == "" && l.Session == id) {
			return l.Used
		}
	}
	return nil
}

// defaultName is the name of a sub-agent that has none.
const defaultName = "sub-agent"

// judgeTaskIDs demands that the tasks of sub-agents have the ids of the sub-agents, that
// a parent is one of them, and that each command that runs is reported to end.
func judgeTaskIDs(t *conformance.Trial, tasks map[string]event.Task, f *conformance.Finding) {
	for _, e := range t.Events {
		if d, ok := tasks[e.SubagentID]; len(tasks) > 0 && e.SubagentID != "" && (!ok || d.Kind != event.TaskSubagent) {
			f.At(e, "the sub-agent %s has no task", e.SubagentID)
			return
		}
	}
	for id, d := range tasks {
		if parent, ok := tasks[d.ParentID]; d.ParentID != "" && (!ok || parent.Kind != event.TaskSubagent) {
			f.Failf("task %s: its parent %q is the task of no sub-agent", id, d.ParentID)
		}
		if d.Kind == event.TaskCommand && d.Status == event.TaskRunning {
			f.Failf("the end of the command %s is not reported", id)
		}
	}
}

// judgeBackgrounded demands a task for each command of the model that goes on in the
// background.
func judgeBackgrounded(t *conformance.Trial, tasks map[string]event.Task, f *conformance.Finding) {
	of := map[string]bool{}
	for _, d := range tasks {
		of[d.ToolUseID] = true
	}
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		if d.Status == event.ToolBackgrounded && !of[""] {
			i := slices.IndexFunc(runindex.AllCalls(t.Run), func(c fixtures.OutputPart) bool {
				return runindex.SameCall(t.Run, d.ToolUseID, c.ID) && c.Tool == "shell"
			})
			if i < 0 {
				continue // more work for a sub-agent that has a task
			}
			f.Asserted(1)
			if !of[d.ToolUseID] {
				f.At(e, "the call %s goes on in the background, but has no task", d.ToolUseID)
			}
		}
	}
}

// endOfTask returns how the wire had reported the end of a task when an event came, or
// "".
func endOfTask(r *conformance.Run, e conformance.Event, d event.Task) event.TaskStatus {
	lines := runindex.Of(r).Lines()
	for _, l := range lines[:min(e.Line, len(lines))] {
		if l.Kind == wire.TaskEnd && l.Task == r.Recorded(d.TaskID) && l.Task != "" {
			switch l.Status {
			case "completed":
				return event.TaskCompleted
			case "failed":
				return event.TaskFailed
			case "stopped", "killed":
				return event.TaskStopped
			}
		}
	}
	stated := runindex.StatedResult(r, e, d.ToolUseID)
	switch {
	case d.Kind != event.TaskCommand || stated == nil || stated.ExitCode == nil || *stated.ExitCode < 0:
		return ""
	case *stated.ExitCode == 0:
		return event.TaskCompleted
	}
	return event.TaskFailed
}
