package agui

import (
	"cmp"
	"fmt"

	"github.com/turnspec/turnspec/adapters/event"
)

// agent is a sub-agent in a run.
type agent struct {
	id      string
	runs    int // how often it started in this run
	running bool
	started Event // of its last start
}

// runOf returns the subagentRunId of a sub-agent; "" of the main agent.
func (r *run) runOf(id string) string {
	a := r.agents[id]
	switch {
	case id == "":
		return ""
	case a == nil || a.runs < 2:
		return id
	}
	return fmt.Sprintf("%s#%d", id, a.runs)
}

func (r *run) startAgent(d event.Task) []Event {
	a := r.agents[d.TaskID]
	if a == nil {
		a = &agent{id: d.TaskID}
		r.agents[d.TaskID] = a
		r.ordered = append(r.ordered, a)
	}
	a.running = true
	a.runs++
	e := Event{Type: "SUBAGENT_STARTED", SubagentRunID: r.runOf(a.id), Name: cmp.Or(d.Name, "sub-agent"), ParentToolCallID: d.ToolUseID}
	if p := r.agents[d.ParentID]; p != nil && p != a {
		e.ParentSubagentRunID = r.runOf(p.id)
	}
	a.started = e
	return []Event{e}
}

func (r *run) endAgent(id string, status event.TaskStatus, message string) []Event {
	a := r.agents[id]
	if a == nil || !a.running {
		return nil
	}
	var out []Event
	for _, b := range r.order {
		if b.key.agent == id {
			out = append(out, r.endMessage(b.key, "")...)
		}
	}
	a.running = false
	e := Event{Type: "SUBAGENT_FINISHED", SubagentRunID: r.runOf(id), Metadata: detail(Detail{Status: string(status)})}
	if status == event.TaskFailed {
		e.Type, e.Message = "SUBAGENT_ERROR", cmp.Or(message, "failed")
	}
	return append(out, e)
}

// task starts or ends a sub-agent.
func (r *run) task(e event.Event, d event.Task) []Event {
	if d.Kind != event.TaskSubagent {
		return nil
	}
	a := r.agents[d.TaskID]
	if d.Status != event.TaskRunning {
		return r.endAgent(d.TaskID, d.Status, d.Text)
	}
	if a != nil && a.running {
		return nil
	}
	if d.ParentID == "" && e.SubagentID != d.TaskID {
		d.ParentID = e.SubagentID // the event is in the stream of the spawning agent
	}
	return r.startAgent(d)
}
