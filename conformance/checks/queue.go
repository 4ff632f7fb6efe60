package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// duringATurn are the messages that were sent while a turn ran.
func duringATurn(r *conformance.Run) []string {
	var out []string
	for i, a := range r.Steps {
		if a.Step.Verb != fixtures.VerbSend && a.Step.Verb != fixtures.VerbSteer || a.Err != nil {
			continue
		}
		running := false
		for _, e := range r.Events {
			switch {
			case e.Steps > i || e.SubagentID != "":
			case e.Type() == event.TypeTurnStart:
				running = true
			case e.Terminal():
				running = false
			}
		}
		if running {
			out = append(out, a.Step.ID)
		}
	}
	return out
}

func judgeQueued(t *conformance.Trial, f *conformance.Finding) {
	late := duringATurn(t.Run)
	f.Asserted(len(late))
	if len(late) == 0 {
		return
	}
	told := map[string]int{}
	var waiting []string
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.UserMessage:
			told[d.MessageID]++
			if e.Turn == 0 {
				f.At(e, "message %s belongs to no turn", d.MessageID)
			}
		case event.Queue:
			waiting = d.MessageIDs
		}
	}
	var reached []string
	for _, q := range mainRequests(t.Run) {
		reached = append(reached, q.New...)
	}
	for _, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSend && a.Step.Verb != fixtures.VerbSteer || a.Err != nil {
			continue
		}
		switch n := told[a.Step.ID]; {
		case n > 1:
			f.Failf("message %s is told %d times", a.Step.ID, n)
		case n == 0 && slices.Contains(reached, a.Step.ID):
			f.Failf("message %s reached the model and is not told", a.Step.ID)
		}
	}
	if len(waiting) > 0 {
		f.Failf("in the end the queue still holds %v", waiting)
	}
}

func judgeUnprompted(t *conformance.Trial, f *conformance.Finding) {
	want, got := 0, 0
	for _, q := range mainRequests(t.Run) {
		if len(q.New) == 1 && q.New[0] == "task" {
			want++
		}
	}
	for _, e := range t.Events {
		d, ok := e.Data.(event.TurnStart)
		if !ok {
			continue
		}
		f.Asserted(1)
		if d.Cause != event.CauseTask {
			continue
		}
		got++
		if len(d.MessageIDs) > 0 {
			f.At(e, "turn %d was begun by a task, and by messages %v", e.Turn, d.MessageIDs)
		}
	}
	if got != want {
		f.Failf("the runtime asked the model %d times of its own accord, and %d turns say so", want, got)
	}
}

// stopAgain is the scenario with each stop done twice, and one where nothing
// runs yet.
func stopAgain(s *fixtures.Scenario) []fixtures.Step {
	var out []fixtures.Step
	found, sent := false, false
	for _, a := range s.Client {
		if a.Verb == fixtures.VerbSend && !sent {
			sent = true
			out = append(out, fixtures.Step{Verb: fixtures.VerbStop, Line: a.Line})
		}
		if a.What == fixtures.StopAll { // a stop of the turn alone changes nothing
			out = append(out, fixtures.Step{Verb: fixtures.VerbStop, Line: a.Line})
		}
		out = append(out, a)
		if a.Verb == fixtures.VerbStop {
			found = true
			out = append(out, a)
		}
	}
	if !found {
		return nil
	}
	return out
}

func judgeStopAgain(t *conformance.Trial, f *conformance.Finding) {
	if t.Alternate == nil {
		return
	}
	for _, a := range t.Alternate.Steps {
		if a.Step.Verb == fixtures.VerbStop {
			f.Asserted(1)
			if a.Err != nil {
				f.Failf("stop fails where another one came before, or nothing runs: %v", a.Err)
			}
		}
	}
	if want, got := turnEnds(t.Run), turnEnds(t.Alternate); want != got {
		f.Diff("with more stops the turns end otherwise", want, got)
	}
}

// turnEnds tells how each turn ended, and how much it told.
func turnEnds(r *conformance.Run) string {
	var b strings.Builder
	n := map[int]int{}
	for _, e := range r.Events {
		n[e.Turn]++
		if e.Terminal() && e.SubagentID == "" {
			fmt.Fprintf(&b, "turn %d: %s, %d events\n", e.Turn, describe(e.Data), n[e.Turn])
		}
	}
	return b.String()
}

func judgeAfterStop(t *conformance.Trial, f *conformance.Finding) {
	stopped := false
	for i, a := range t.Steps {
		switch {
		case a.Step.Verb == fixtures.VerbStop:
			stopped = true
			continue
		case a.Step.Verb != fixtures.VerbSend || a.Step.What != "" || a.Err != nil || !stopped:
			continue
		}
		again := slices.ContainsFunc(t.Steps[i:], func(d conformance.StepResult) bool { return d.Step.Verb == fixtures.VerbStop })
		if again {
			continue
		}
		turn := 0
		var text strings.Builder
		for _, e := range t.Events {
			switch d := e.Data.(type) {
			case event.UserMessage:
				if d.MessageID == a.Step.ID {
					turn = e.Turn
				}
			case event.Delta:
				if turn != 0 && e.Turn == turn && e.SubagentID == "" {
					text.WriteString(d.Text)
				}
			}
			if turn == 0 || e.Turn != turn || !e.Terminal() || e.SubagentID != "" {
				continue
			}
			f.Asserted(1)
			if d, ok := e.Data.(event.Done); !ok || d.Stopped {
				f.At(e, "turn %d comes after the stop and ends in %s", turn, describe(e.Data))
			}
		}
		if turn == 0 {
			f.Failf("message %s was sent after the stop, and no turn takes it", a.Step.ID)
			continue
		}
		if want := answerTo(t.Run, a.Step.ID); want != "" && !strings.HasPrefix(text.String(), want) {
			f.Diff(fmt.Sprintf("turn %d has not its own words", turn), want+"\n", text.String()+"\n")
		}
	}
}

// answerTo is what the model says to the request that brings the message.
func answerTo(r *conformance.Run, message string) string {
	for _, q := range mainRequests(r) {
		if slices.Contains(q.New, message) && q.Ended == fixtures.EndedComplete {
			var b strings.Builder
			for _, s := range q.Said {
				b.WriteString(s.Text)
			}
			return b.String()
		}
	}
	return ""
}
