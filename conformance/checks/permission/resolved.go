package permission

import (
	"slices"
	"strconv"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/component"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Resolved is the check permission.resolved.
var Resolved = &conformance.Check{
	ID: "permission.resolved", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges: []string{
		"interrupt", "interrupt.component_name", "interrupt.interrupt_id", "interrupt.surface", "interrupt_resolved", "interrupt_resolved.by",
		"interrupt_resolved.interrupt_id", "interrupt_resolved.value", "permission_request", "permission_request.request_id", "permission_resolved", "permission_resolved.allowed",
		"permission_resolved.by", "permission_resolved.decision", "permission_resolved.request_id", "permission_resolved.tool_name",
	},
	Needs:    []string{"permission_resolved"},
	Mend:     "Emit permission_resolved when a question is answered, withdrawn or ended with its turn: once, with the decision and who made it. Give a denied call the status denied.",
	Sentence: "Each permission_request and each interrupt is resolved once, with its tool, the decision or the value that the user gave, and who made it. A denied call does not end with the status ok.",
	Judge:    judgeResolved,
}

func judgeResolved(t *conformance.Trial, f *conformance.Finding) {
	judgeDeniedStatus(t, f)
	answers := runindex.Answers(t.Run)
	open := map[string]bool{}
	names := map[string]string{} // the tools that the questions name
	shown := map[string]bool{}   // questions of components: the scenario has no step that answers them
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
			f.At(e, "%s of %q does not name who decided: %q", e.Type(), id, by)
			return next, false
		}
		if len(answers) == 0 {
			f.At(e, "%s of %q: the user gave no further answer", e.Type(), id)
			return next, false
		}
		next, answers = answers[0], answers[1:]
		return next, true
	}
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			f.Asserted(1)
			open[d.RequestID], names[d.RequestID] = true, d.ToolName
		case event.Interrupt:
			f.Asserted(1)
			open[d.InterruptID] = true
			if k, ok := component.KindsOf(t.Scenario); ok && k.Has(d.ComponentName, d.Surface) {
				shown[d.InterruptID] = true
			}
		case event.InterruptResolved:
			if shown[d.InterruptID] && open[d.InterruptID] && d.By == event.ByUser {
				delete(open, d.InterruptID)
				continue
			}
			act, answered := resolved(e, d.InterruptID, d.By)
			stated := len(d.Value) > 0 || t.Supports("interrupt_resolved.value")
			if want := valueOf(act); answered && want != "" && stated && runindex.Canonical(d.Value) != want {
				f.At(e, "interrupt %s: the user answered %s, but the value is %s", d.InterruptID, want, d.Value)
			}
		case event.PermissionResolved:
			if act, ok := resolved(e, d.RequestID, d.By); ok && d.Decision != decisionOf(act) {
				f.At(e, "question %s: the user answered %s, but the event holds %s", d.RequestID, act.What, d.Decision)
			}
			if d.ToolName != names[d.RequestID] {
				f.At(e, "question %s is about the tool %q, but the event names %q", d.RequestID, names[d.RequestID], d.ToolName)
			}
			if d.Allowed != (d.Decision == event.DecisionAllow) {
				f.At(e, "question %s: decision %s, but allowed is %v", d.RequestID, d.Decision, d.Allowed)
			}
		}
	}
	for id := range open {
		f.Failf("question %s is never resolved", id)
	}
	if len(answers) > 0 && len(t.Unrecorded) == 0 {
		f.Failf("%d answers of the user are not reported", len(answers))
	}
}

// judgeDeniedStatus demands that the result of a call that the user or the policy has
// denied has the status denied. A call that a stop ended may be interrupted.
func judgeDeniedStatus(t *conformance.Trial, f *conformance.Finding) {
	failed := slices.ContainsFunc(runindex.Answers(t.Run), func(a fixtures.Step) bool { return a.What == fixtures.AnswerError || a.What == fixtures.AnswerWrong })
	if failed || !t.Supports("tool_result.status") || len(t.Unrecorded) > 0 {
		return // the runtime understood no decision, or the wire ends here
	}
	denied := runindex.DeniedCalls(t.Run)
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		if !denied[d.ToolUseID] {
			continue
		}
		f.Asserted(1)
		if d.Status == event.ToolOK {
			f.At(e, "the call %s was denied, but its status is %s", d.ToolUseID, d.Status)
		}
	}
}

// valueOf returns the value that an answer of the user gives to an interrupt; "" if any will
// do, because the runtime gets no answer that it understands.
func valueOf(a fixtures.Step) string {
	switch a.What {
	case fixtures.AnswerError, fixtures.AnswerWrong:
		return ""
	case fixtures.AnswerValue:
		return runindex.Canonical(a.Value)
	}
	return strconv.Quote(string(decisionOf(a)))
}

// decisionOf returns the decision of an answer about a permission.
func decisionOf(a fixtures.Step) event.Decision {
	switch {
	case a.Allows() || a.What == fixtures.AnswerValue:
		return event.DecisionAllow
	case a.What == fixtures.AnswerCancel:
		return event.DecisionCancel
	}
	return event.DecisionDeny
}
