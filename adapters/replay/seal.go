package replay

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// A message is sealed when nothing can change it any more; its ids are forgotten
// then. What a reducer must know of the past is so as much as is open, however
// long the session is.

// sealFinished seals, as a turn begins, what belongs to turns that are over and holds
// nothing that goes on.
func (r *Reducer) sealFinished() {
	for n, t := range r.turns {
		if t.ended {
			delete(r.turns, n)
		}
	}
	r.tasks = slices.DeleteFunc(r.tasks, func(t *Task) bool {
		over := t.Status != event.TaskRunning
		if over {
			delete(r.taskByID, t.ID)
			r.tasksChanged = true
		}
		return over
	})
	held := map[*message]bool{}
	for _, n := range r.questions {
		held[n.topMessage()] = true
	}
	for n := range r.detached {
		held[n.topMessage()] = true
	}
	for _, n := range r.agents {
		if n.running() {
			held[n.topMessage()] = true
		}
	}
	for _, p := range r.componentByID {
		if p.node != nil {
			held[p.node.topMessage()] = true
		}
	}
	r.open = slices.DeleteFunc(r.open, func(m *message) bool {
		if r.turns[m.m.Turn] != nil || held[m] {
			return false
		}
		r.sealMessage(m)
		return true
	})
}

// sealMessage gives a message its last form and forgets what it is made of.
func (r *Reducer) sealMessage(m *message) {
	m.sealed = true
	r.messages.set(r.own, m.place, m.freeze(r.own))
	m.blocks.walkNodes(func(n *node) {
		if r.blockByKey[n.key] == n {
			delete(r.blockByKey, n.key)
		}
		if r.spawns[n.block.ID] == n {
			delete(r.spawns, n.block.ID)
		}
		if r.agents[n.block.ID] == n {
			delete(r.agents, n.block.ID)
			for k, list := range r.waiting {
				if list = slices.DeleteFunc(list, func(a *node) bool { return a == n }); len(list) > 0 {
					r.waiting[k] = list
				} else {
					delete(r.waiting, k)
				}
			}
		}
	})
	m.blocks = blocks{}
}

// endDetachedTool lets go of the tool whose life in the background is over.
func (r *Reducer) endDetachedTool(e event.Event, t *Task) {
	if t.Status == event.TaskRunning || t.ToolUseID == "" {
		return
	}
	for _, agent := range []string{t.ParentID, e.SubagentID, ""} {
		if n := r.blockByKey[key{agent, KindTool, t.ToolUseID}]; n != nil {
			delete(r.detached, n)
			return
		}
	}
}
