package jsonl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// Step is a part of a smoke test.
type Step struct {
	Name string
	Err  error // nil: it went well
}

// SmokeScenario is what a smoke test plays: one message, one turn of text.
const SmokeScenario = "text/plain"

// Smoke checks the plug of a subject and nothing else: that it starts, says
// hello, opens, takes a message, tells the turn and its text, and closes. It ends
// with the first step that failed. c is a recording of SmokeScenario.
func Smoke(s conformance.Subject, scn *fixtures.Scenario, c *fixtures.Case, life *fixtures.Lifecycle) []Step {
	r := perform.Process(s, perform.Recording{Case: c, Scenario: scn, Lifecycle: life}, nil)
	if r.Harness != "" {
		return []Step{{"harness", errors.New(r.Harness)}}
	}
	var out []Step
	for _, step := range []struct {
		name string
		err  func(*conformance.Run) error
	}{
		{"hello", started},
		{"open", did(fixtures.VerbOpen)},
		{"runtime started", launched},
		{"session_ready", told(event.TypeSessionReady, "write it when the runtime is ready for a message")},
		{"send", did(fixtures.VerbSend)},
		{"turn_start", told(event.TypeTurnStart, "a turn begins with it, with the message's id in message_ids")},
		{"text", words},
		{"done", told(event.TypeDone, "each turn ends in exactly one done, or error: without it a user waits for ever")},
		{"close", did(fixtures.VerbClose)},
		{"end", whole},
	} {
		out = append(out, Step{step.name, step.err(r)})
		if out[len(out)-1].Err != nil {
			return out
		}
	}
	return out
}

// started: an Open that failed before the program was asked anything.
func started(r *conformance.Run) error {
	for _, a := range r.Steps {
		if open, ok := errors.AsType[*adapters.OpenError](a.Err); ok && open.Op != "open" {
			return open.Err
		}
	}
	return nil
}

func did(verb fixtures.Verb) func(*conformance.Run) error {
	return func(r *conformance.Run) error {
		for _, a := range r.Steps {
			if a.Step.Verb != verb {
				continue
			}
			if m, ok := errors.AsType[*PlugError](a.Err); ok {
				return m
			}
			return a.Err
		}
		return &PlugError{What: fmt.Sprintf("it did not come to %s", verb), Do: "see what failed before"}
	}
}

// launched: nothing was written to a stand-in that nobody started.
func launched(r *conformance.Run) error {
	switch {
	case len(r.Played) > 0 || len(r.ClientActions) > 0:
		return nil
	case r.Hang != "":
		return errors.New(r.Hang)
	}
	return &PlugError{
		What: fmt.Sprintf("the program opened, and started no %s", r.Runtime),
		Do: "let it find the runtime in PATH, take the variable for it (CODEX_PATH, CLAUDE_CODE_EXECUTABLE), or start the command that open gives; a fixed path finds another one; " +
			"a sidecar that runs already was to be started with what `turnspec env` prints",
	}
}

func told(typ event.Type, do string) func(*conformance.Run) error {
	return func(r *conformance.Run) error {
		var seen []string
		for _, e := range r.Events {
			if e.Type() == typ || !r.Supports(string(typ)) {
				return nil
			}
			seen = append(seen, string(e.Type()))
		}
		if r.Hang != "" {
			return errors.New(r.Hang)
		}
		return &PlugError{What: fmt.Sprintf("there is no event %s, only: %s", typ, strings.Join(seen, ", ")), Do: do}
	}
}

func words(r *conformance.Run) error {
	if !r.Supports(string(event.TypeDelta)) {
		return nil
	}
	var want, got strings.Builder
	for _, q := range r.Witness {
		for _, s := range q.Said {
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
	return &PlugError{
		What: fmt.Sprintf("the model said %q, the deltas say %q", want.String(), got.String()),
		Do:   "write an event delta for each piece of text, once; if there is none, look whether the runtime was written to: " + wrote(r),
	}
}

func wrote(r *conformance.Run) string {
	if len(r.Unrecorded) > 0 {
		return r.Unrecorded[0]
	}
	if len(r.ClientActions) == 0 {
		return "nothing was"
	}
	return fmt.Sprintf("%d lines were", len(r.ClientActions))
}

func whole(r *conformance.Run) error {
	switch {
	case r.Hang != "":
		return errors.New(r.Hang)
	case r.LeftRunning > 0:
		return &PlugError{What: fmt.Sprintf("%d processes of the runtime still run after close", r.LeftRunning), Do: "close their stdin, then end them by SIGTERM, then SIGKILL"}
	case len(r.Violations) > 0:
		return errors.New(r.Violations[0])
	}
	return nil
}
