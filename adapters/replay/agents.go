package replay

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// agent finds or makes the block of the event's sub-agent, under the tool or
// the sub-agent that spawned it.
func (r *Reducer) agent(e event.Event, tool, parent string) *node {
	id := e.SubagentID
	if n := r.agents[id]; n != nil {
		return n
	}
	n := r.newNode(Block{Kind: KindSubagent, ID: id, Status: Running, Subagent: &Subagent{}}, e.Turn)
	if by := r.spawner(id, tool, parent); by != nil {
		n.into(&by.kids)
		n.block.Subagent.Name = by.block.Tool.Subagent
	} else if up := r.agents[parent]; up != nil {
		n.into(&up.kids)
	} else {
		e.SubagentID = ""
		n.into(r.place(e))
	}
	r.agents[id] = n
	return n
}

// spawner is the tool that spawned a sub-agent, as far as that is known.
func (r *Reducer) spawner(id, tool, parent string) *node {
	if tool == "" {
		return r.spawns[id]
	}
	for _, n := range []*node{r.index[key{parent, KindTool, tool}], r.spawns[tool], r.index[key{"", KindTool, tool}]} {
		if n != nil {
			return n
		}
	}
	return nil
}

// link nests a sub-agent in its tool, once.
func (r *Reducer) link(agent, tool *node) {
	up := agent.parent()
	if up == tool || tool.within(agent) || up != nil && up.block.Kind == KindTool {
		return
	}
	agent.into(&tool.kids)
	agent.block.Subagent.Name = cmp.Or(agent.block.Subagent.Name, tool.block.Tool.Subagent)
}

func (r *Reducer) task(e event.Event, d event.Task) {
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
	t.Name = cmp.Or(valid(d.Name), t.Name)
	t.Text = cmp.Or(valid(d.Text), t.Text)
	if d.Usage != nil {
		t.Usage = own(d.Usage)
	}
	r.linkedTask(e, t)
	r.detachedTask(e, t)
	if d.Kind != event.TaskSubagent {
		return
	}
	parent := d.ParentID
	if parent == "" && e.SubagentID != d.TaskID {
		parent = e.SubagentID // told in the stream of the one that spawned it
	}
	e.SubagentID = d.TaskID
	n := r.agent(e, d.ToolUseID, parent)
	n.tasked = true
	if d.ToolUseID != "" {
		if by := r.spawner(d.TaskID, d.ToolUseID, parent); by != nil {
			r.link(n, by)
		} else if k := (key{parent, KindTool, d.ToolUseID}); !slices.Contains(r.waiting[k], n) {
			r.waiting[k] = append(r.waiting[k], n)
		}
	}
	s := n.block.Subagent
	s.Name, s.Usage = cmp.Or(t.Name, s.Name), cmp.Or(t.Usage, s.Usage)
	if d.Text != "" {
		n.replace(d.Text)
	}
	switch d.Status {
	case event.TaskCompleted:
		n.finish(Complete)
	case event.TaskFailed:
		n.finish(Failed)
	case event.TaskStopped:
		n.finish(Stopped)
	case event.TaskInterrupted:
		n.finish(Interrupted)
	default:
		n.finish(Running)
	}
}

func (r *Reducer) usage(e event.Event, d event.Usage) {
	if e.SubagentID != "" {
		n := r.agent(e, "", "")
		n.block.Subagent.Usage = &d.Tokens
		n.touch()
		return
	}
	if t := r.turns[e.Turn]; t != nil && !t.ended {
		t.tokens = own(&d.Tokens)
	}
	u := event.Usage{Tokens: d.Tokens, Cost: own(d.Cost), Context: own(d.Context)}
	if old := r.chat.Usage; old != nil {
		u.Cost, u.Context = cmp.Or(u.Cost, old.Cost), cmp.Or(u.Context, old.Context)
	}
	r.chat.Usage = &u
}

// result is a second telling of the text, and a first one only of a turn that
// has none.
func (r *Reducer) result(e event.Event, d event.Result) {
	t := r.turns[e.Turn]
	if t == nil || e.SubagentID != "" {
		return
	}
	if !t.ended && d.Stats != nil {
		t.stats = own(d.Stats)
	}
	if t.text > 0 || d.Text == "" {
		return
	}
	t.text++
	r.add(e, Block{Kind: KindText, Status: Complete}).write(d.Text)
}
