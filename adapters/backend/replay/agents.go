package replay

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// ensureAgent finds or creates the block of the event's sub-agent, below the tool
// or the sub-agent that spawned it.
func (r *Reducer) ensureAgent(e event.Event, tool, parent string) *node {
	id := e.SubagentID
	if n := r.agents[id]; n != nil {
		return n
	}
	n := r.newNode(Block{Kind: KindSubagent, ID: id, Status: Running, Subagent: &Subagent{}}, e.Turn)
	if by := r.findSpawner(id, tool, parent); by != nil {
		n.moveTo(&by.kids)
		n.block.Subagent.Name = by.block.Tool.Subagent
	} else if up := r.agents[parent]; up != nil {
		n.moveTo(&up.kids)
	} else {
		e.SubagentID = ""
		n.moveTo(r.targetList(e))
	}
	r.agents[id] = n
	return n
}

// findSpawner returns the tool that spawned a sub-agent, or nil if it is unknown. A call whose
// input the model still writes may be dropped, with all that is in it, and has spawned none yet.
func (r *Reducer) findSpawner(id, tool, parent string) *node {
	if tool == "" {
		return r.spawns[id]
	}
	for _, n := range []*node{r.blockByKey[key{parent, KindTool, tool}], r.spawns[tool], r.blockByKey[key{"", KindTool, tool}]} {
		if n != nil && n.block.Status != Writing {
			return n
		}
	}
	return nil
}

// nestAgent moves a sub-agent below its tool, unless it is below a tool already.
func (r *Reducer) nestAgent(agent, tool *node) {
	up := agent.parent()
	if up == tool || tool.isWithin(agent) || up != nil && up.block.Kind == KindTool {
		return
	}
	agent.moveTo(&tool.kids)
	agent.block.Subagent.Name = cmp.Or(agent.block.Subagent.Name, tool.block.Tool.Subagent)
}

func (r *Reducer) handleTask(e event.Event, d event.Task) {
	r.tasksChanged = true
	t := r.taskByID[d.TaskID]
	if t == nil {
		t = &Task{ID: d.TaskID}
		r.taskByID[d.TaskID] = t
		r.tasks = append(r.tasks, t)
	}
	t.Kind, t.Status = d.Kind, d.Status
	t.ParentID = cmp.Or(d.ParentID, t.ParentID)
	t.ToolUseID = cmp.Or(d.ToolUseID, t.ToolUseID)
	t.Name = cmp.Or(validText(d.Name), t.Name)
	t.Text = cmp.Or(validText(d.Text), t.Text)
	if d.Usage != nil {
		t.Usage = clonePtr(d.Usage)
	}
	if t.Status != event.TaskRunning && t.ToolUseID != "" {
		r.endBackgroundTool(e, t)
	}
	if d.Kind != event.TaskSubagent {
		return
	}
	parent := d.ParentID
	if parent == "" && e.SubagentID != d.TaskID {
		parent = e.SubagentID // the event is in the stream of the spawning agent
	}
	e.SubagentID = d.TaskID
	n := r.ensureAgent(e, d.ToolUseID, parent)
	n.tasked = true
	if d.ToolUseID != "" {
		if by := r.findSpawner(d.TaskID, d.ToolUseID, parent); by != nil {
			r.nestAgent(n, by)
		} else if k := (key{parent, KindTool, d.ToolUseID}); !slices.Contains(r.waiting[k], n) {
			r.waiting[k] = append(r.waiting[k], n)
		}
	}
	s := n.block.Subagent
	s.Name = cmp.Or(t.Name, s.Name)
	if d.Usage != nil { // t.Usage may be older than the last usage event of the agent
		s.Usage = t.Usage
	}
	if d.Text != "" {
		n.replaceText(d.Text)
	}
	switch d.Status {
	case event.TaskCompleted:
		n.setStatus(Complete)
	case event.TaskFailed:
		n.setStatus(Failed)
	case event.TaskStopped:
		n.setStatus(Stopped)
	case event.TaskInterrupted:
		n.setStatus(Interrupted)
	default:
		n.setStatus(Running)
	}
}

// endBackgroundTool drops the background tool of an ended task, which may be of any
// agent, and ends its component.
func (r *Reducer) endBackgroundTool(e event.Event, t *Task) {
	for _, agent := range []string{t.ParentID, e.SubagentID, ""} {
		if n := r.blockByKey[key{agent, KindTool, t.ToolUseID}]; n != nil && n.block.Status == Backgrounded {
			delete(r.detached, n)
			if n.linked != nil {
				n.linked.finishTool(n, t.Status == event.TaskCompleted)
			}
			return
		}
	}
}
