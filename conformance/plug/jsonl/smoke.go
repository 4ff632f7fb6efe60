package jsonl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/fixtures"
)

// Step is a step of a smoke test.
type Step struct {
	Name string
	Err  error // nil if the step passed
}

// SmokeScenario is the scenario of a smoke test: one message, one turn of text.
const SmokeScenario = "text/plain"

// Smoke checks only how a subject is plugged in: that it starts, writes its hello,
// opens, takes a message, reports the turn and its text, and closes. The result
// ends with the first step that failed. c is a recording of SmokeScenario.
func Smoke(s conformance.Subject, scn *fixtures.Scenario, c *fixtures.Case, life *fixtures.ReadReplies) []Step {
	return Connection(perform.Process(context.Background(), s, perform.Recording{Case: c, Scenario: scn, Lifecycle: life}, nil))
}

// Connection judges the run of a smoke test.
func Connection(r *conformance.Run) []Step {
	if r.Harness != "" {
		return []Step{{"harness", errors.New(r.Harness)}}
	}
	var out []Step
	for _, step := range []struct {
		name  string
		check func(*conformance.Run) error
	}{
		{"hello", checkStarted},
		{"open", checkStep(fixtures.VerbOpen)},
		{"runtime started", checkRuntimeStarted},
		{"session_ready", checkEvent(event.TypeSessionReady, "write it when the runtime is ready for a message")},
		{"send", checkStep(fixtures.VerbSend)},
		{"turn_start", checkEvent(event.TypeTurnStart, "a turn begins with it, with the message's id in message_ids")},
		{"text", checkText},
		{"done", checkEvent(event.TypeDone, "end each turn with exactly one done or error: without it a user waits for ever")},
		{"close", checkStep(fixtures.VerbClose)},
		{"end", Ended},
	} {
		err := step.check(r)
		if err != nil && r.OverBudget != "" {
			err = errors.New(r.Hang) // the cause, in whichever step it was noticed
		}
		out = append(out, Step{step.name, err})
		if err != nil {
			break
		}
	}
	return out
}

// TookTurn reports whether the subject of a smoke test got through one turn, so that the suite
// can judge it: all steps passed, or the turn ended and had some text, and the run came to its end
// without a failed command. A subject that declares that it cannot perform the scenario is judged
// on others.
func TookTurn(r *conformance.Run, steps []Step) bool {
	if steps[len(steps)-1].Err == nil {
		return true
	}
	if r.Harness != "" || r.Hang != "" || r.EndedEarly {
		return declines(r)
	}
	ended, text := !r.Supports(string(event.TypeDone)), !r.Supports(string(event.TypeDelta))
	for _, e := range r.Events {
		ended = ended || e.Type() == event.TypeDone || e.Type() == event.TypeError
		text = text || e.Type() == event.TypeDelta
	}
	failed := slices.ContainsFunc(r.Steps, func(s conformance.StepResult) bool { return s.Err != nil })
	return ended && text && !failed && len(r.Played) > 0
}

// declines reports whether the subject declares that it does not support a step of the scenario.
// A program that refused a command declared nothing.
func declines(r *conformance.Run) bool {
	return slices.ContainsFunc(r.Steps, func(s conformance.StepResult) bool {
		_, refused := errors.AsType[*plug.RefusalError](s.Err)
		return errors.Is(s.Err, conformance.ErrDeclaredUnsupported) && !refused
	})
}

// checkStarted fails if Open failed before the program was asked to open.
func checkStarted(r *conformance.Run) error {
	for _, a := range r.Steps {
		if open, ok := errors.AsType[*adapters.OpenError](a.Err); ok && open.Op != "open" {
			return open.Err
		}
	}
	return nil
}

func checkStep(verb fixtures.Verb) func(*conformance.Run) error {
	return func(r *conformance.Run) error {
		for _, a := range r.Steps {
			if a.Step.Verb != verb {
				continue
			}
			if e, ok := errors.AsType[*plug.Error](a.Err); ok {
				return e
			}
			return a.Err
		}
		return plug.Errorf("the run ended before %s", verb).Advise("look at the steps before")
	}
}

// checkRuntimeStarted fails if no stand-in was started.
func checkRuntimeStarted(r *conformance.Run) error {
	switch {
	case len(r.Played) > 0 || len(r.ClientActions) > 0:
		return nil
	case r.Hang != "":
		return errors.New(r.Hang)
	}
	return plug.Errorf("the program opened, and started no %s", r.Runtime).Advise(
		"let it find the runtime in PATH, take the variable for it (CODEX_PATH, CLAUDE_CODE_EXECUTABLE), or start the command that open gives; a fixed path finds another one; " +
			"a sidecar that runs already must have been started with what `turnspec env` prints")
}

func checkEvent(typ event.Type, advice string) func(*conformance.Run) error {
	return func(r *conformance.Run) error {
		var types []string
		for _, e := range r.Events {
			if e.Type() == typ || !r.Supports(string(typ)) {
				return nil
			}
			shown := string(e.Type())
			if d, is := e.Data.(event.Error); is {
				shown += fmt.Sprintf(" (%s: %s)", d.Code, plug.Clip(d.Message))
			}
			types = append(types, shown)
		}
		if r.Hang != "" {
			return errors.New(r.Hang)
		}
		return plug.Errorf("there is no event %s, only: %s", typ, strings.Join(types, ", ")).Advise(advice)
	}
}

// checkText compares the deltas with the text that the model sent.
func checkText(r *conformance.Run) error {
	if !r.Supports(string(event.TypeDelta)) {
		return nil
	}
	var want, got strings.Builder
	for _, q := range r.Witness {
		for _, s := range q.Output {
			want.WriteString(s.Text)
		}
	}
	for _, e := range r.Events {
		if d, ok := e.Data.(event.Delta); ok {
			got.WriteString(d.Text)
		}
	}
	if got.String() == want.String() {
		return nil
	}
	if r.Hang != "" {
		return errors.New(r.Hang)
	}
	written := fmt.Sprintf("%d lines", len(r.ClientActions))
	if len(r.Unrecorded) > 0 {
		written = r.Unrecorded[0]
	}
	return plug.Errorf("the model sent the text %q, the deltas hold %q", want.String(), got.String()).
		Advise("write one event delta for each piece of text; if there is none, check what the program wrote to the runtime: " + written)
}

// Trace returns how each step of a run went. An error may be what the case asks for: a
// runtime rejects some steps.
func Trace(r *conformance.Run) (out []Step) {
	for _, a := range r.Steps {
		words := slices.DeleteFunc([]string{string(a.Step.Verb), a.Step.What, a.Step.ID}, func(w string) bool { return w == "" })
		out = append(out, Step{strings.Join(words, " "), a.Err})
	}
	return out
}

// Ended returns an error if the run did not end, or if something is left after close.
func Ended(r *conformance.Run) error {
	switch {
	case r.Harness != "":
		return errors.New(r.Harness)
	case r.Hang != "":
		return errors.New(r.Hang)
	case r.LeftRunning > 0:
		return plug.Errorf("%d processes of the runtime still run after close", r.LeftRunning).Advise("close their stdin, then send SIGTERM, then SIGKILL")
	case len(r.Violations) > 0:
		return errors.New(r.Violations[0])
	}
	return nil
}
