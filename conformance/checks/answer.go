package checks

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func answerChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "permission.resolved", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "Each permission_request and each interrupt is resolved once, with the decision and who made it.",
			Judge:    judgeResolved,
		},
		{
			ID: "permission.late", Severity: conformance.Must, Source: "OpenMausBot#858", Tiers: both,
			Sentence:      "An answer that comes when its question is not open any more allows nothing.",
			JudgesWritten: true,
			Judge:         judgeLate,
		},
		{
			ID: "permission.decline-is-not-cancel", Severity: conformance.Must, Source: "acpx#535", Tiers: both,
			Sentence:      "Declining one tool does not end the turn: only a user who stops does that.",
			JudgesWritten: true,
			Judge:         judgeDecline,
		},
		{
			ID: "question.answered", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence:      "A question to the user becomes an interrupt with its component, and the answer reaches the model.",
			JudgesWritten: true,
			Judge:         judgeAnswered,
		},
		{
			ID: "mode.told", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "A change of model or mode is told when it is in force, and one that the runtime refuses is an error and no event.",
			Judge:    judgeTold,
		},
	}
}

func judgeResolved(t *conformance.Trial, f *conformance.Finding) {
	told := answers(t.Run)
	open := map[string]bool{}
	shown := map[string]bool{} // questions of components: the scenario has no act that answers them
	resolved := func(e conformance.Event, id string, by event.By) (next fixtures.Step, ok bool) {
		if !open[id] {
			f.At(e, "%s of %q, which is not open", e.Type(), id)
			return next, false
		}
		delete(open, id)
		switch by {
		case event.ByUser:
		case event.ByPolicy, event.ByRuntime, event.ByWithdrawn:
			return next, false
		default:
			f.At(e, "%s of %q does not say who decided: %q", e.Type(), id, by)
			return next, false
		}
		if len(told) == 0 {
			f.At(e, "%s of %q: the user said nothing that is not told already", e.Type(), id)
			return next, false
		}
		next, told = told[0], told[1:]
		return next, true
	}
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			f.Asserted(1)
			open[d.RequestID] = true
		case event.Interrupt:
			f.Asserted(1)
			open[d.InterruptID] = true
			if k, ok := kindsOf(t.Scenario); ok && k.has(d.ComponentName, d.Surface) {
				shown[d.InterruptID] = true
			}
		case event.InterruptResolved:
			if shown[d.InterruptID] && open[d.InterruptID] && d.By == event.ByUser {
				delete(open, d.InterruptID)
				continue
			}
			resolved(e, d.InterruptID, d.By)
		case event.PermissionResolved:
			if act, ok := resolved(e, d.RequestID, d.By); ok && d.Decision != decisionOf(act) {
				f.At(e, "question %s: the user said %s, the event %s", d.RequestID, act.What, d.Decision)
			}
			if d.Allowed != (d.Decision == event.DecisionAllow) {
				f.At(e, "question %s: decision %s, and yet allowed is %v", d.RequestID, d.Decision, d.Allowed)
			}
		}
	}
	for id := range open {
		f.Failf("question %s is never resolved", id)
	}
	if len(told) > 0 && len(t.Unrecorded) == 0 {
		f.Failf("%d answers of the user are not told", len(told))
	}
}

// decisionOf is what an answer decides about a permission.
func decisionOf(a fixtures.Step) event.Decision {
	switch {
	case a.Allows() || a.What == fixtures.AnswerValue:
		return event.DecisionAllow
	case a.What == fixtures.AnswerCancel:
		return event.DecisionCancel
	}
	return event.DecisionDeny
}

// judgeLate judges scenarios in which all that the user allows is too late.
func judgeLate(t *conformance.Trial, f *conformance.Finding) {
	late := 0
	for _, a := range t.Scenario.Client {
		switch {
		case a.Verb == fixtures.VerbAnswer && a.Late && a.Allows():
			late++
		case a.Allows():
			return
		}
	}
	if late == 0 {
		return
	}
	f.Asserted(late)
	f.Sent = t.Tier != conformance.TierLive
	for _, w := range t.ClientActions {
		if w.Kind == standin.KindAnswer && w.Answer == standin.Allow {
			f.Failf("question %s was not open any more, and the subject sent allow", w.RequestID)
		}
	}
	for _, e := range t.Events {
		if d, ok := e.Data.(event.PermissionResolved); ok && d.Allowed {
			f.At(e, "question %s was not open any more, and the event says allowed", d.RequestID)
		}
	}
	if t.Tier == conformance.TierLive {
		untouched(t, f)
	}
}

// untouched: the files of the scenario are as they were.
func untouched(t *conformance.Trial, f *conformance.Finding) {
	for path, want := range t.Scenario.Workspace {
		if got, there := t.Workspace[path]; !there || string(got) != string(want) {
			f.Failf("the file %s is not as it was, though nothing was allowed", path)
		}
	}
}

// judgeDecline judges turns in which the user denies and does not stop.
func judgeDecline(t *conformance.Trial, f *conformance.Finding) {
	told := answers(t.Run)
	declined := 0
	for _, a := range told {
		switch {
		case a.What == fixtures.AnswerCancel:
			return
		case denies(a):
			declined++
		}
	}
	if declined == 0 {
		return
	}
	f.Asserted(declined)
	f.Sent = t.Tier != conformance.TierLive
	for i, sent := range decisions(t.Run) {
		if i < len(told) && denies(told[i]) && sent == standin.Cancel {
			f.Failf("question %d: the user said %s, the subject denied it and stopped the turn", i+1, told[i].What)
		}
	}
	if has(t.Run, fixtures.VerbStop) {
		return
	}
	for _, w := range t.ClientActions {
		if w.Kind == standin.KindStop && !has(t.Run, fixtures.VerbClose) && !afterTurns(t.Run, w) {
			f.Failf("the subject stopped the turn; the user had only declined a tool")
		}
	}
	for _, e := range t.Events {
		if d, ok := e.Data.(event.Done); ok && d.Stopped && e.SubagentID == "" {
			f.At(e, "the turn ends stopped; the user had only declined a tool")
		}
	}
}

// afterTurns reports whether a line was written in real time when all turns had
// ended: some subjects stop whatever may run when they are closed.
func afterTurns(r *conformance.Run, w standin.ClientAction) bool {
	if r.Tier != conformance.TierProcess {
		return false
	}
	last, running := time.Time{}, 0
	for _, e := range r.Events {
		switch {
		case e.SubagentID != "":
		case e.Type() == event.TypeTurnStart:
			running++
		case e.Terminal():
			running--
			last = e.TS
		}
	}
	return running <= 0 && w.At.After(last)
}

// judgeAnswered judges questions that were answered with words.
func judgeAnswered(t *conformance.Trial, f *conformance.Finding) {
	var words []string
	n := 0
	for _, a := range answers(t.Run) {
		if a.What == fixtures.AnswerValue {
			n++
			words = append(words, texts(a.Value)...)
		}
	}
	if n == 0 {
		return
	}
	f.Asserted(n)
	for _, e := range t.Events {
		if d, ok := e.Data.(event.Interrupt); ok && (d.ComponentName == "" || len(d.Props) == 0) {
			f.At(e, "interrupt %s has no component or no props", d.InterruptID)
		}
	}
	var came strings.Builder
	if f.Sent = t.Tier != conformance.TierLive; f.Sent {
		for _, w := range t.ClientActions {
			if w.Kind == standin.KindAnswer {
				came.Write(filledIn(w.Bytes))
			}
		}
	} else {
		for _, result := range toolResults(t.Run) {
			came.WriteString(result)
		}
	}
	for _, w := range words {
		if !strings.Contains(came.String(), w) {
			f.Failf("the user answered %q, and that did not reach the runtime or its model", w)
		}
	}
}

// filledIn is what a reply says beside the question, which it may repeat.
func filledIn(reply []byte) []byte {
	for _, member := range []string{`"answers":`, `"content":`} {
		if i := bytes.Index(reply, []byte(member)); i >= 0 {
			return reply[i:]
		}
	}
	return nil
}

// texts are the strings among the values of an object.
func texts(v jsontext.Value) []string {
	var m map[string]any
	if json.Unmarshal(v, &m) != nil {
		return nil
	}
	var out []string
	for name, x := range m {
		if name == "action" { // of an elicitation: yes or no, and no words
			continue
		}
		switch x := x.(type) {
		case string:
			out = append(out, x)
		case []any:
			for _, y := range x {
				if s, ok := y.(string); ok {
					out = append(out, s)
				}
			}
		}
	}
	return out
}

func judgeTold(t *conformance.Trial, f *conformance.Finding) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbSet {
			continue
		}
		f.Asserted(1)
		told := false
		for _, e := range t.Events {
			if e.Steps > i && (a.Step.What == "model" && e.Type() == event.TypeModelChanged || a.Step.What == "mode" && e.Type() == event.TypeModeChanged) {
				told = true
			}
		}
		switch {
		case a.Step.Refused && a.Err == nil:
			f.Failf("set %s %s was refused by the runtime, and the subject said nothing", a.Step.What, a.Step.Text)
		case a.Step.Refused && told:
			f.Failf("set %s %s was refused by the runtime, and yet an event tells the change", a.Step.What, a.Step.Text)
		case !a.Step.Refused && a.Err != nil:
			f.Failf("set %s %s: %v", a.Step.What, a.Step.Text, a.Err)
		case !a.Step.Refused && !told:
			f.Failf("set %s %s: no event tells that it is in force", a.Step.What, a.Step.Text)
		}
	}
}
