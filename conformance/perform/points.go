package perform

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// The functions of this file find the points of a scenario in a subject's events.

// textAndReasoning returns all text and all reasoning, of sub-agents too.
func textAndReasoning(events []conformance.Event) (text, reasoning string) {
	var said, thought strings.Builder
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.Delta:
			said.WriteString(d.Text)
		case event.Thinking:
			thought.WriteString(d.Text)
		}
	}
	return said.String(), thought.String()
}

func textEndsWith(events []conformance.Event, suffix string) bool {
	text, _ := textAndReasoning(events)
	return strings.HasSuffix(text, suffix)
}

// messageEnded reports whether the turn that took the message has ended.
func messageEnded(events []conformance.Event, id string) bool {
	turn := 0
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.TurnStart:
			if slices.Contains(d.MessageIDs, id) {
				turn = e.Turn
			}
		case event.UserMessage:
			if d.MessageID == id && e.Turn > 0 {
				turn = e.Turn
			}
		}
		if turn > 0 && e.Turn == turn && e.Terminal() && e.SubagentID == "" {
			return true
		}
	}
	return false
}

// allEnded reports whether no turn and no task runs.
func allEnded(events []conformance.Event) bool {
	turns := map[int]bool{}
	tasks := map[string]bool{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.TurnStart:
			turns[e.Turn] = true
		case event.Task:
			tasks[d.TaskID] = d.Status == event.TaskRunning
		}
		if e.Terminal() && e.SubagentID == "" {
			delete(turns, e.Turn)
		}
	}
	for _, running := range tasks {
		if running {
			return false
		}
	}
	return len(turns) == 0
}

// textBeforeHold returns the text of a reply up to its hold.
func textBeforeHold(s *fixtures.Scenario, hold string) string {
	for _, replies := range s.Model {
		for _, r := range replies {
			var text strings.Builder
			for _, p := range r.Parts {
				text.WriteString(strings.Join(p.Text, ""))
				if p.Hold == hold {
					return text.String()
				}
			}
		}
	}
	return ""
}

// isWithdrawn reports whether the scenario's client takes the message back: with
// withdraw, or with stop all if it then waits for no end of the message.
func isWithdrawn(s *fixtures.Scenario, message string) bool {
	index := func(like fixtures.Step) int {
		return slices.IndexFunc(s.Client, func(x fixtures.Step) bool { return x.Verb == like.Verb && x.What == like.What && x.ID == like.ID })
	}
	sent := index(fixtures.Step{Verb: fixtures.VerbSend, ID: message})
	if all := index(fixtures.Step{Verb: fixtures.VerbStop, What: fixtures.StopAll}); sent >= 0 && sent < all {
		return index(fixtures.Step{Verb: fixtures.VerbWait, What: "end", ID: message}) < 0
	}
	return index(fixtures.Step{Verb: fixtures.VerbWithdraw, ID: message}) >= 0
}

// isAside reports whether the message goes to another thread of the process. The
// session must not show it.
func isAside(s *fixtures.Scenario, message string) bool {
	return slices.ContainsFunc(s.Client, func(x fixtures.Step) bool { return x.Verb == fixtures.VerbAside && x.ID == message })
}

// holdIsHidden reports whether the hold is in a reply that the session does not
// show: to a message of another thread, or to a search of the runtime.
func holdIsHidden(s *fixtures.Scenario, hold string) bool {
	return slices.ContainsFunc(slices.Concat(s.Model["aside"], s.Model["search"]), func(r fixtures.Reply) bool {
		return slices.ContainsFunc(r.Parts, func(p fixtures.Part) bool { return p.Hold == hold })
	})
}
