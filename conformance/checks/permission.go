package checks

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func permissionChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "permission.asked", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence:      "Each question of the runtime becomes one permission_request with an id, tool and input.",
			JudgesWritten: true,
			Judge:         judgeAsked,
		},
		{
			ID: "permission.answered-once", Severity: conformance.Must, Source: "claude-agent-sdk-python#1105", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:       "Each gets exactly one reply on the wire, whatever happens (timeout, stop, close included), unless the runtime withdrew it.",
			JudgesWritten:  true,
			AlternateSteps: closeWhenAsked,
			Judge:          judgeAnsweredOnce,
		},
		{
			ID: "permission.deny-holds", Severity: conformance.Must, Source: "claude-code#34046", Tiers: both,
			Sentence:      "What was denied did not happen: the side effect is absent, the model saw the denial.",
			JudgesWritten: true,
			Judge:         judgeDeny,
		},
		{
			ID: "permission.unsupported-request", Severity: conformance.Must, Source: "wire/codex: server requests that a client does not know", Tiers: []conformance.Tier{conformance.TierWitness},
			Sentence:      "A request of the runtime that the subject does not know gets an error for a reply, at once, and is passed on as a notice.",
			JudgesWritten: true,
			Faults:        []string{"unknown-request"},
			JudgeFault:    judgeUnsupported,
		},
	}
}

// answers are the scenario's decisions, in order, but for those that came too
// late to decide anything.
func answers(r *conformance.Run) []fixtures.Step {
	var out []fixtures.Step
	for _, a := range r.Scenario.Client {
		if a.Verb == fixtures.VerbAnswer && !a.Late {
			out = append(out, a)
		}
	}
	return out
}

// denies reports whether the tool that was asked about must not run.
func denies(a fixtures.Step) bool { return !a.Allows() && a.What != fixtures.AnswerValue }

func judgeAsked(t *conformance.Trial, f *conformance.Finding) {
	want := len(answers(t.Run)) + len(byPolicy(t.Run))
	if want == 0 {
		return
	}
	f.Asserted(want)
	if len(t.Unrecorded) > 0 {
		judgeHeard(t.Run, f)
		return
	}
	ids, interrupts := map[string]bool{}, map[string]bool{}
	questions := 0
	for _, a := range answers(t.Run) {
		if a.What == fixtures.AnswerValue || slices.Contains(t.Scenario.Needs, "elicitation") {
			questions++
		}
	}
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			switch {
			case d.RequestID == "":
				f.At(e, "permission_request without an id")
			case ids[d.RequestID]:
				f.At(e, "permission_request %s comes twice", d.RequestID)
			case d.ToolName == "":
				f.At(e, "permission_request %s does not name the tool", d.RequestID)
			}
			ids[d.RequestID] = true
			judgeAskedInput(t, e, d, f)
		case event.Interrupt:
			interrupts[d.InterruptID] = true
		}
	}
	// A plan is approved by yes or no, and yet it is an interrupt.
	if len(ids)+len(interrupts) != want || len(interrupts) < questions {
		f.Failf("the runtime asked %d times, %d of them for more than yes or no; the subject asked for %d permissions and %d answers", want, questions, len(ids), len(interrupts))
	}
}

// isQuestion reports whether a request of the runtime is one to the user, and not
// a call of what the client brings.
func isQuestion(method string) bool {
	return method != "hook_callback" && method != "mcp_message" && method != "item/tool/call"
}

// questions are those that the runtime asked in the play, and the recording's
// client answered.
func questions(r *conformance.Run) (out []standin.RuntimeRequest) {
	for _, a := range r.RuntimeRequests {
		if a.Expected && isQuestion(a.Method) {
			out = append(out, a)
		}
	}
	return out
}

// judgeHeard judges a run that has left the recording: what the runtime had asked
// by then the subject has told.
func judgeHeard(r *conformance.Run, f *conformance.Finding) {
	told := map[string]bool{}
	for _, e := range r.Events {
		switch d := e.Data.(type) {
		case event.PermissionRequest:
			told[d.RequestID] = true
		case event.Interrupt:
			told[d.InterruptID] = true
		}
	}
	if asked := len(questions(r)); len(told) < asked {
		f.Failf("the runtime asked %d times; the subject told of %d questions", asked, len(told))
	}
}

// judgeAskedInput: the request holds what one of the model's calls gave, and
// that call is the one that it names.
func judgeAskedInput(t *conformance.Trial, e conformance.Event, d event.PermissionRequest, f *conformance.Finding) {
	var calls []string
	for _, call := range allTools(t.Run) {
		var in scripted
		if json.Unmarshal(call.Input, &in) != nil || d.ToolUseID != "" && !isTool(d.ToolUseID, call.ID) {
			continue
		}
		calls = append(calls, call.ID)
		whole := in.Path == "" || holds(d.ToolInput, in.Path)
		for _, text := range in.texts() {
			whole = whole && holds(d.ToolInput, text)
		}
		if whole {
			return
		}
	}
	f.At(e, "permission_request %s (tool_use_id %q): the input %s is that of none of the calls %v", d.RequestID, d.ToolUseID, clip(string(d.ToolInput)), calls)
}

func judgeAnsweredOnce(t *conformance.Trial, f *conformance.Finding) {
	want := len(answers(t.Run))
	if want == 0 {
		return
	}
	judgeClosedWhenAsked(t, f)
	replies := repliesOf(t.Run)
	f.Asserted(want)
	for id, n := range replies {
		if n != 1 {
			f.Failf("question %s got %d replies", id, n)
		}
	}
	for _, q := range questions(t.Run) {
		if !q.Answered && !q.Withdrawn {
			f.Failf("question %s (%s) of process %d got no reply", q.ID, q.Method, q.Process)
		}
	}
	if len(replies) < want {
		f.Missingf("the runtime asked %d questions and got replies to %d", want, len(replies))
	}
}

func repliesOf(r *conformance.Run) map[string]int {
	replies := map[string]int{}
	for _, w := range r.ClientActions {
		switch {
		case w.Kind != standin.KindAnswer:
		case !isQuestion(w.Asked):
		default:
			replies[w.RequestID]++
		}
	}
	return replies
}

// closeWhenAsked is the scenario up to its first answer, and then the end.
func closeWhenAsked(s *fixtures.Scenario) []fixtures.Step {
	for i, a := range s.Client {
		if a.Verb == fixtures.VerbAnswer && !a.Late {
			return append(slices.Clone(s.Client[:i]), fixtures.Step{Verb: fixtures.VerbClose, Line: a.Line})
		}
	}
	return nil
}

// asked counts the questions that the subject passed on before it was closed.
func asked(r *conformance.Run) int {
	closing := slices.IndexFunc(r.Steps, func(d conformance.StepResult) bool { return d.Step.Verb == fixtures.VerbClose })
	n := 0
	for _, e := range r.Events {
		if closing >= 0 && e.Steps > closing {
			break
		}
		if e.Type() == event.TypePermissionRequest || e.Type() == event.TypeInterrupt {
			n++
		}
	}
	return n
}

// judgeClosedWhenAsked: the session was closed with a question open. It gets
// its one reply, which allows nothing, before stdin is closed.
func judgeClosedWhenAsked(t *conformance.Trial, f *conformance.Finding) {
	if t.Alternate == nil || !t.Supports("session_end") {
		return // it has no word for the end of a session with a question open
	}
	f.Asserted(1)
	replies := repliesOf(t.Alternate)
	if want := max(1, asked(t.Alternate)); len(replies) != want {
		f.Failf("the session was closed while %d questions were open: %d got a reply", want, len(replies))
	}
	for id, n := range replies {
		if n != 1 {
			f.Failf("the session was closed while question %s was open: it got %d replies", id, n)
		}
	}
	for _, d := range decisions(t.Alternate) {
		if d == standin.Allow {
			f.Failf("the session was closed while a question was open, and the subject sent allow")
		}
	}
}

// decisions are the subject's replies, one a question, in the order of the
// first ones.
func decisions(r *conformance.Run) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindAnswer && w.Asked != "hook_callback" && !seen[w.RequestID] {
			seen[w.RequestID] = true
			out = append(out, w.Answer)
		}
	}
	return out
}

// stops reports whether the user ends a turn: then the model may never be asked
// again, and be told nothing.
func stops(r *conformance.Run) bool {
	return has(r, fixtures.VerbStop) || slices.ContainsFunc(answers(r), func(a fixtures.Step) bool { return a.What == fixtures.AnswerCancel })
}

func judgeDeny(t *conformance.Trial, f *conformance.Finding) {
	denied := 0
	all := true
	for _, a := range answers(t.Run) {
		if denies(a) {
			denied++
		} else {
			all = false
		}
	}
	if denied == 0 {
		return
	}
	f.Asserted(denied)
	if t.Tier != conformance.TierLive {
		f.Sent = true
		sent := decisions(t.Run)
		for i, want := range answers(t.Run) {
			switch {
			case !denies(want):
			case i >= len(sent):
				f.Missingf("question %d was to be denied, and was not answered", i+1)
			case sent[i] == "allow":
				f.Failf("question %d: the user said %s, the subject sent allow", i+1, want.What)
			}
		}
		return
	}
	if all {
		for path, want := range t.Scenario.Workspace {
			if got, there := t.Workspace[path]; !there || string(got) != string(want) {
				f.Failf("the file %s is not as it was, though every tool call was denied", path)
			}
		}
	}
	results := toolResults(t.Run)
	for _, e := range t.Events {
		if d, ok := e.Data.(event.ToolResult); ok && d.Status == event.ToolDenied {
			for _, call := range saidTools(t.Run) {
				if isTool(d.ToolUseID, call.ID) && results[call.ID] == "" && !stops(t.Run) {
					f.At(e, "tool %s was denied, but the model was not told", call.ID)
				}
			}
		}
	}
}
