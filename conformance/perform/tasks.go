package perform

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// taskAct does an act that has to do with what runs at once.
func (d *director) taskAct(ctx context.Context, sess conformance.Session, act fixtures.Step) error {
	queue, queues := sess.(conformance.Queuer)
	switch act.Verb {
	case fixtures.VerbSend:
		if !queues {
			return adapters.ErrUnsupported
		}
		return queue.SendAt(ctx, act.ID, act.Text, act.What)
	case fixtures.VerbWithdraw:
		if !queues {
			return adapters.ErrUnsupported
		}
		return queue.Withdraw(ctx, act.ID)
	case fixtures.VerbStop:
		st, ok := sess.(conformance.AllStopper)
		if !ok {
			return adapters.ErrUnsupported
		}
		return st.StopAll(ctx)
	case fixtures.VerbStopTask:
		st, ok := sess.(conformance.TaskStopper)
		if !ok {
			return adapters.ErrUnsupported
		}
		id := d.taskOf(act.ID)
		if id == "" {
			return fmt.Errorf("%w: no task of tool call %s runs", errNotBegun, act.ID)
		}
		return st.StopTask(ctx, id)
	}
	return fmt.Errorf("the suite does not know how to %s", act.Verb)
}

// taskOf is the id of the task that a tool call made, as the events told it.
func (d *director) taskOf(tool string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range slices.Backward(d.run.Events) {
		if t, ok := e.Data.(event.Task); ok && sameTool(t.ToolUseID, tool) {
			return t.TaskID
		}
	}
	return ""
}

// sameTool reports whether a subject's tool id is that of the scenario's call.
func sameTool(subject, scenario string) bool {
	return subject == scenario || subject == "toolu_"+scenario || subject == "call_"+scenario
}

// withdrawn reports whether the scenario's client takes the message back: by
// itself, or with all that wait, of which nobody awaits an end.
func withdrawn(s *fixtures.Scenario, message string) bool {
	at := func(like fixtures.Step) int {
		return slices.IndexFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == like.Verb && a.What == like.What && a.ID == like.ID })
	}
	sent := at(fixtures.Step{Verb: fixtures.VerbSend, ID: message})
	if all := at(fixtures.Step{Verb: fixtures.VerbStop, What: fixtures.StopAll}); sent >= 0 && sent < all {
		return at(fixtures.Step{Verb: fixtures.VerbWait, What: "end", ID: message}) < 0
	}
	return slices.ContainsFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbWithdraw && a.ID == message })
}

// aside reports whether the message goes to another thread of the process: the
// session must not show it.
func aside(s *fixtures.Scenario, message string) bool {
	return slices.ContainsFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbAside && a.ID == message })
}

// asideHold reports whether the hold stands in a reply that the session does not
// show: to such a message, or to a search that the runtime has made.
func asideHold(s *fixtures.Scenario, hold string) bool {
	return slices.ContainsFunc(slices.Concat(s.Model["aside"], s.Model["search"]), func(r fixtures.Reply) bool {
		return slices.ContainsFunc(r.Parts, func(p fixtures.Part) bool { return p.Hold == hold })
	})
}
