package server

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// WithoutListeners is the check server.without-listeners.
var WithoutListeners = &conformance.Check{
	ID: "server.without-listeners", Source: "turns that end when the user closes the laptop", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:           "Tie the runtime to the session, not to a request for its events, and store the events that nobody receives.",
	Sentence:       "If all listeners leave in the middle of a turn, the turn goes on, and a listener that returns receives all that came meanwhile.",
	NeedsFor:       needsAbility("cursor"),
	JudgesWritten:  true,
	ServersOnly:    true,
	AlternateSteps: leaveInTurn,
	Judge:          judgeWithoutListeners,
}

// leaveInTurn lets all listeners leave after the first message, in the scenarios that name
// their own faults, which are plain.
func leaveInTurn(s *fixtures.Scenario) []fixtures.Step {
	if len(s.Faults) == 0 {
		return nil
	}
	for i, a := range s.Client {
		if a.SendsMessage() {
			out := append([]fixtures.Step{}, s.Client[:i+1]...)
			return append(append(out, perform.ListenersLeave), s.Client[i+1:]...)
		}
	}
	return nil
}

func judgeWithoutListeners(t *conformance.Trial, f *conformance.Finding) {
	a := t.Alternate
	if a == nil || len(t.Probes) == 0 {
		return
	}
	for _, s := range a.Steps {
		if s.Step.What != perform.ListenersLeave.What || s.Err != nil && a.Hang == "" {
			continue
		}
		f.Asserted(1)
		if a.Hang != "" {
			f.Failf("all listeners left in the middle of a turn, and the session could not go on: %s", a.Hang)
			return
		}
		if want, got := turnsOf(t.Run), turnsOf(a); want != got {
			f.Diff("all listeners left in the middle of a turn, and the one that returned received another turn", want, got)
		}
		if e, ended := endedByItself(a); ended {
			f.Failf("all listeners left in the middle of a turn, and the session ended: %s", runindex.Describe(e.Data))
		}
		if n := len(t.Unrecorded); len(a.Unrecorded) > n {
			f.Failf("all listeners left in the middle of a turn, and the runtime was sent what it is not with a listener: %s", a.Unrecorded[n])
		}
	}
}

// endedByItself returns the session_end that came before the session was closed.
func endedByItself(r *conformance.Run) (conformance.Event, bool) {
	for _, s := range r.Steps {
		if s.Step.Verb != fixtures.VerbClose {
			continue
		}
		for _, e := range r.Events {
			if e.Type() == event.TypeSessionEnd && e.At < s.At {
				return e, true
			}
		}
	}
	return conformance.Event{}, false
}

// turnsOf describes the text and the end of each turn.
func turnsOf(r *conformance.Run) string {
	var b strings.Builder
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.Delta:
			b.WriteString(d.Text)
		case event.Done, event.Error:
			fmt.Fprintf(&b, "\nturn %d: %s\n", e.Turn, runindex.Describe(e.Data))
		}
	}
	return b.String()
}
