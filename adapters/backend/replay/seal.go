package replay

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// sealFinished is called when a turn begins. It seals the messages of ended turns
// that hold nothing open, and drops ended turns and tasks. The state of a reducer
// is so limited by what is open, not by the length of the session.
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
	// The component of a call may be in another message than the call, which still
	// changes it.
	for _, m := range r.open {
		if r.turns[m.m.Turn] == nil && !held[m] {
			continue
		}
		m.blocks.walkNodes(func(n *node) {
			if n.linked != nil && n.linked.node != nil {
				held[n.linked.node.topMessage()] = true
			}
		})
	}
	r.open = slices.DeleteFunc(r.open, func(m *message) bool {
		if r.turns[m.m.Turn] != nil || held[m] {
			return false
		}
		r.sealMessage(m)
		return true
	})
}

// sealMessage stores the final form of a message and drops its nodes and ids.
func (r *Reducer) sealMessage(m *message) {
	m.sealed = true
	r.messages.setAt(r.own, m.place, m.freeze(r.own))
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
