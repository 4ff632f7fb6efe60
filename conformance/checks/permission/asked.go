package permission

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/component"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Asked is the check permission.asked.
var Asked = &conformance.Check{
	ID: "permission.asked", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:        []string{"interrupt", "permission_request", "permission_request.tool_input", "permission_request.tool_name", "permission_request.reason", "permission_request.options", "permission_request.tool_use_id"},
	Needs:         []string{"permission_request", "permission_request.tool_input", "permission_request.tool_name"},
	Mend:          "Emit permission_request for each question of the runtime, with the tool and input that it names, the id of the call, the reason and the choices that it states. Do not answer it in the adapter without a policy.",
	Sentence:      "Each question of the runtime becomes one permission_request with an id, tool and input, or one interrupt if it approves a plan or takes more than yes or no.",
	JudgesWritten: true,
	Judge:         judgeAsked,
}

func judgeAsked(t *conformance.Trial, f *conformance.Finding) {
	want := asked(t.Run)
	if want == 0 {
		return
	}
	f.Asserted(want)
	if len(t.Unrecorded) > 0 {
		judgeReported(t.Run, f)
		return
	}
	ids, interrupts := map[string]bool{}, map[string]bool{}
	values := 0
	for _, a := range runindex.Answers(t.Run) {
		if a.What == fixtures.AnswerValue || slices.Contains(t.Scenario.Needs, "elicitation") {
			values++
		}
	}
	components, _ := component.KindsOf(t.Scenario)
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			switch {
			case d.RequestID == "":
				f.At(e, "permission_request without an id")
			case ids[d.RequestID]:
				f.At(e, "permission_request %s is emitted twice", d.RequestID)
			case d.ToolName == "":
				f.At(e, "permission_request %s does not name the tool", d.RequestID)
			}
			ids[d.RequestID] = true
			judgeAskedWords(t, e, d, f)
			judgeAskedMembers(t, e, d, f)
			judgeAskedInput(t, e, d, f)
		case event.Interrupt:
			if d.ComponentName == "" || d.Surface == "" {
				f.At(e, "interrupt %s names no component (%q) or no surface (%q) to show it", d.InterruptID, d.ComponentName, d.Surface)
			}
			if !components.Has(d.ComponentName, d.Surface) { // the model asks by a component, and not the runtime
				interrupts[d.InterruptID] = true
			}
		}
	}
	most := want
	if t.Tier == conformance.TierLive {
		most = max(most, awaited(t.Run))
	}
	// A plan is approved by yes or no, but its question is an interrupt.
	if n := len(ids) + len(interrupts); n < want || n > most || len(interrupts) < values {
		f.Failf("the runtime asked %d times, %d of them for more than yes or no; the subject asked for %d permissions and %d answers", want, values, len(ids), len(interrupts))
	}
}

// decisionNames are options that a subject may offer in any session: the decisions of
// permission_resolved, and the kinds of options of ACP.
var decisionNames = []string{
	string(event.DecisionAllow), string(event.DecisionDeny), string(event.DecisionCancel),
	"allow_once", "allow_always", "reject_once", "reject_always",
}

// judgeAskedWords demands that the reason is the runtime's, and that the tool has the name
// with which its call began.
func judgeAskedWords(t *conformance.Trial, e conformance.Event, d event.PermissionRequest, f *conformance.Finding) {
	if d.Reason != "" && !runindex.States(t.Run, e, d.Reason) {
		f.At(e, "permission_request %s: the reason %q is not the runtime's", d.RequestID, runindex.Clip(d.Reason))
	}
	for _, option := range d.Options {
		if !slices.Contains(decisionNames, option) && !jsontext.Value(option).IsValid() && !runindex.States(t.Run, e, option) {
			f.At(e, "permission_request %s: the option %q is not the runtime's", d.RequestID, runindex.Clip(option))
		}
	}
	for _, tool := range runindex.Of(t.Run).Tools() {
		if tool.ID == d.ToolUseID && len(tool.Starts) > 0 && tool.Start().Tool != d.ToolName {
			f.At(e, "permission_request %s names the tool %q, but its call is of %q", d.RequestID, d.ToolName, tool.Start().Tool)
		}
	}
}

// judgeAskedMembers demands what the runtime states with a question: which call it is about, why
// it asks, and each choice that it offers.
func judgeAskedMembers(t *conformance.Trial, e conformance.Event, d event.PermissionRequest, f *conformance.Finding) {
	q := askedBy(t.Run, d.RequestID)
	if q == nil {
		return
	}
	if slices.ContainsFunc(runindex.AllCalls(t.Run), func(c fixtures.OutputPart) bool { return runindex.SameCall(t.Run, q.Tool, c.ID) }) {
		runindex.Demand(t, f, e, "permission_request.tool_use_id", d.ToolUseID != "", "the call "+q.Tool)
	}
	if q.Reason != "" {
		runindex.Demand(t, f, e, "permission_request.reason", d.Reason != "", q.Reason)
	}
	for _, option := range q.Options {
		runindex.Demand(t, f, e, "permission_request.options", slices.ContainsFunc(d.Options, func(o string) bool { return sameOption(o, option) }), option)
	}
}

// sameOption reports whether two choices are the same text, or the same JSON.
func sameOption(a, b string) bool {
	return a == b || jsontext.Value(b).Kind() == jsontext.KindBeginObject && wire.SameJSON(jsontext.Value(a), jsontext.Value(b))
}

// askedBy returns what the runtime asked by the question that a subject names by id, or nil if
// that is not known. If the subject chooses its own ids, it is known only if there is one question.
func askedBy(r *conformance.Run, id string) *wire.Asked {
	var all []*wire.Asked
	for _, l := range runindex.Of(r).Lines() {
		if l.Kind != wire.Request || l.Asked == nil || l.Asked.Calls {
			continue
		}
		if wire.Unquote(l.ID) == r.Recorded(id) {
			return l.Asked
		}
		all = append(all, l.Asked)
	}
	if len(all) == 1 {
		return all[0]
	}
	return nil
}

// asked returns how often the runtime asked, whether the user answers or not: a stop
// may come first, or the runtime may withdraw the question. Live, the answers of the
// client and the policy are all that is known.
func asked(r *conformance.Run) int {
	if r.Tier != conformance.TierLive {
		return len(questions(r))
	}
	return len(runindex.Answers(r)) + len(byPolicy(r))
}

// awaited returns how often the client waits for a question, and how many the policy
// answered. It may stop the turn or close the session then, and the runtime may withdraw
// the question.
func awaited(r *conformance.Run) int {
	n := len(byPolicy(r))
	for _, a := range r.Scenario.Client {
		if a.Verb == fixtures.VerbWait && a.What == "ask" {
			n++
		}
	}
	return n
}

// judgeReported judges a run that has left the recording: the subject must have
// reported the questions that the recorded client answered up to there.
func judgeReported(r *conformance.Run, f *conformance.Finding) {
	reported := slices.DeleteFunc(slices.Clone(runindex.Of(r).Questions()), func(q *runindex.Question) bool { return len(q.Asked) == 0 })
	expected := slices.DeleteFunc(questions(r), func(q standin.RuntimeRequest) bool { return !q.Expected })
	if len(reported) < len(expected) {
		f.Failf("the runtime asked %d times; the subject reported %d questions", len(expected), len(reported))
	}
}

// judgeAskedInput demands that a request holds the input of the call that it names,
// or of any call if it names none.
func judgeAskedInput(t *conformance.Trial, e conformance.Event, d event.PermissionRequest, f *conformance.Finding) {
	var calls []string
	for _, call := range runindex.AllCalls(t.Run) {
		if d.ToolUseID != "" && !runindex.SameCall(t.Run, d.ToolUseID, call.ID) {
			continue
		}
		if d.ToolUseID != "" && asksUser(call) {
			f.At(e, "permission_request %s is for a call of %s, which asks the user: emit an interrupt, or declare that the subject has none", d.RequestID, d.ToolName)
			return
		}
		var in runindex.Input
		if json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		calls = append(calls, call.ID)
		whole := in.Path == "" || runindex.Holds(d.ToolInput, in.Path)
		for _, text := range in.Texts() {
			whole = whole && runindex.Holds(d.ToolInput, text)
		}
		if whole {
			return
		}
	}
	f.At(e, "permission_request %s (tool_use_id %q): the input %s is that of none of the calls %v", d.RequestID, d.ToolUseID, runindex.Clip(string(d.ToolInput)), calls)
}

// asksUser reports whether a call of the model asks the user a question or to approve a
// plan.
func asksUser(call fixtures.OutputPart) bool { return call.Tool == "ask" || call.Tool == "plan" }

// byPolicy returns the questions of the runtime that the policy answered in the user's
// place in a live run, by their ids. The witness has no ids of questions.
func byPolicy(r *conformance.Run) map[string]bool {
	out := map[string]bool{}
	if r.Scenario.Policy == nil {
		return out
	}
	for _, d := range runindex.EventsOf[event.PermissionResolved](r) {
		if d.By != event.ByUser {
			out[d.RequestID] = true
		}
	}
	return out
}
