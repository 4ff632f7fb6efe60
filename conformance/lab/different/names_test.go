package different

import (
	"strconv"
	"sync/atomic"

	"github.com/turnspec/turnspec/adapters/event"
)

var renamesBlocks = Adapter{
	Name: "renames-blocks", Sentence: "renames the ids of blocks",
	Events: func(after event.Position) func(event.Event, func(event.Event)) {
		names := map[string]string{}
		name := func(kind, id string) string {
			if id == "" {
				return ""
			}
			if names[kind+id] == "" {
				names[kind+id] = kind + strconv.FormatInt(after.Seq+int64(len(names))+1, 10)
			}
			return names[kind+id]
		}
		return func(e event.Event, out func(event.Event)) {
			switch d := e.Data.(type) {
			case event.Delta:
				d.BlockID = name("block ", d.BlockID)
				e.Data = d
			case event.Thinking:
				d.BlockID = name("block ", d.BlockID)
				e.Data = d
			case event.BlockEnd:
				d.BlockID = name("block ", d.BlockID)
				e.Data = d
			}
			out(e)
		}
	},
}

// ids counts the ids of all sessions, so that no two runs have the same.
var ids atomic.Int64

var neverRepeatsIDs = Adapter{
	Name: "never-repeats-ids", Sentence: "has other ids for blocks in each run",
	Events: func(event.Position) func(event.Event, func(event.Event)) {
		prefix := strconv.FormatInt(ids.Add(1), 10) + "-"
		return changed(func(d event.Data) event.Data {
			switch d := d.(type) {
			case event.Delta:
				d.BlockID = prefixed(prefix, d.BlockID)
				return d
			case event.Thinking:
				d.BlockID = prefixed(prefix, d.BlockID)
				return d
			case event.BlockEnd:
				d.BlockID = prefixed(prefix, d.BlockID)
				return d
			}
			return d
		})(event.Position{})
	},
}

var renamesQuestions = Adapter{
	Name: "renames-questions", Sentence: "renames the ids of questions", ID: unprefixed("question-"),
	Events: changed(func(d event.Data) event.Data {
		switch d := d.(type) {
		case event.PermissionRequest:
			d.RequestID = prefixed("question-", d.RequestID)
			return d
		case event.PermissionResolved:
			d.RequestID = prefixed("question-", d.RequestID)
			return d
		case event.Interrupt:
			d.InterruptID = prefixed("question-", d.InterruptID)
			return d
		case event.InterruptResolved:
			d.InterruptID = prefixed("question-", d.InterruptID)
			return d
		}
		return d
	}),
}

var renamesAgents = Adapter{
	Name: "renames-agents", Sentence: "renames the ids of tasks and sub-agents", ID: unprefixed("agent-"),
	Events: each(func(e event.Event, out func(event.Event)) {
		e.SubagentID = prefixed("agent-", e.SubagentID)
		if d, ok := e.Data.(event.Task); ok {
			d.TaskID, d.ParentID = prefixed("agent-", d.TaskID), prefixed("agent-", d.ParentID)
			e.Data = d
		}
		out(e)
	}),
}

var skipsTurnNumbers = Adapter{
	Name: "skips-turn-numbers", Sentence: "counts turns 10, 20, 30 …",
	Events: func(after event.Position) func(event.Event, func(event.Event)) {
		numbers, last := map[int]int{0: 0}, after.Turn
		return func(e event.Event, out func(event.Event)) {
			if _, known := numbers[e.Turn]; !known {
				last += 10
				numbers[e.Turn] = last
			}
			e.Turn = numbers[e.Turn]
			out(e)
		}
	},
}
