package session

import (
	"errors"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// JudgeRefusedOpens the opens that the runtime refuses fail with an error that a
// program understands, with this code if there is but one, and nothing is told of
// a session that is not.
func JudgeRefusedOpens(t *conformance.Trial, f *conformance.Finding, code event.ErrorCode, of func(fixtures.Step) bool) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbOpen || !a.Step.Refused || !of(a.Step) {
			continue
		}
		f.Asserted(1)
		var typed *adapters.OpenError
		switch {
		case a.Err == nil:
			f.Failf("open %s succeeded, where the runtime refuses", a.Step.What)
		case perform.Unfinished(a.Err):
			f.Failf("%v", a.Err)
		case !errors.As(a.Err, &typed) || typed.Code == "":
			f.Failf("the error of Open is not an *adapters.OpenError with a code: %v", a.Err)
		case code != "" && typed.Code != code:
			f.Failf("the error of Open has code %q, want %q: %v", typed.Code, code, a.Err)
		case typed.Err == nil || typed.Err.Error() == "":
			f.Failf("the error of Open has no reason: %v", a.Err)
		case !quotes(t.Run, a.Err):
			f.Failf("the runtime reported why it does not open, and the error does not: %v", a.Err)
		case len(a.Step.Args) > 0 && typed.Stderr == "":
			f.Failf("the runtime reported on stderr why it does not start, and the error does not hold it: %v", a.Err)
		case len(a.Step.Args) > 0 && !strings.Contains(runindex.ErrorText(a.Err), typed.Stderr):
			f.Failf("the message of the error leaves out the stderr that the error holds: %q", runindex.ErrorText(a.Err))
		case len(a.Step.Args) > 0 && t.Tier == conformance.TierWitness && !exitOfOpen(t.Run, a, typed.Exit):
			f.Failf("the runtime ended before it was ready, and the error does not have its exit code: %v", a.Err)
		}
		for _, e := range t.Events {
			if e.Steps == i+1 {
				f.At(e, "%s of a session that was not opened", e.Type())
				break
			}
		}
	}
}

// exitOfOpen reports whether an exit code is that with which a process ended while
// it was opened.
func exitOfOpen(r *conformance.Run, a conformance.StepResult, code *int) bool {
	for _, p := range r.Played {
		if p.Line.Dir == fixtures.Exit && p.Line.Signal == "" && p.At >= a.At && p.At <= a.At+a.For {
			return code != nil && *code == p.Line.Code
		}
	}
	return true // what ended it was a signal
}

// quotes reports whether an error holds the runtime's own words about its first
// refusal, if the wire has any.
func quotes(r *conformance.Run, err error) bool {
	refused := firstRefused(r)
	for i, l := range runindex.Of(r).Lines() {
		if r.Played[i].Line.Process != refused {
			continue
		}
		for _, words := range l.Errors {
			if words != "" {
				return strings.Contains(anyID.ReplaceAllString(err.Error(), "ID"), anyID.ReplaceAllString(words, "ID"))
			}
		}
	}
	return true
}

// firstRefused is the process whose session was not opened, or 0.
func firstRefused(r *conformance.Run) int {
	for i, o := range r.Opens {
		if o.Step.Refused {
			return i + 1
		}
	}
	return 0
}
