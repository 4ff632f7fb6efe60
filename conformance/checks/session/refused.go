package session

import (
	"errors"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// JudgeRefusedOpens demands that each open that the runtime rejects returns a typed
// error, with the given code unless it is "", and that no event reports such a
// session.
func JudgeRefusedOpens(t *conformance.Trial, f *conformance.Finding, code event.ErrorCode, of func(fixtures.Step) bool) {
	for i, a := range t.Steps {
		if a.Step.Verb != fixtures.VerbOpen || !a.Step.Refused || !of(a.Step) {
			continue
		}
		f.Asserted(1)
		var typed *adapters.OpenError
		switch {
		case a.Err == nil:
			f.Failf("open %s succeeded, but the runtime rejects it", a.Step.What)
		case perform.Unfinished(a.Err):
			f.Failf("%v", a.Err)
		case !errors.As(a.Err, &typed) || typed.Code == "":
			f.Failf("the error of Open has none of the codes of event error (start_failure, invalid_request …): %v", a.Err)
		case code != "" && typed.Code != code:
			f.Failf("the error of Open has code %q, want %q: %v", typed.Code, code, a.Err)
		case typed.Err == nil || typed.Err.Error() == "":
			f.Failf("the error of Open has no reason: %v", a.Err)
		case !quotes(t.Run, a.Err):
			f.Failf("the error does not hold the reason that the runtime reported: %v", a.Err)
		case len(a.Step.Args) > 0 && typed.Stderr == "" && t.Tier == conformance.TierProcess && quotesStderr(t.Run, a.Err):
			// The error of a program is one text.
		case len(a.Step.Args) > 0 && typed.Stderr == "":
			f.Failf("the error does not hold the reason that the runtime wrote to stderr: %v", a.Err)
		case len(a.Step.Args) > 0 && !strings.Contains(runindex.ErrorText(a.Err), typed.Stderr):
			f.Failf("the error holds stderr, but its message does not: %q", runindex.ErrorText(a.Err))
		case len(a.Step.Args) > 0 && t.Tier == conformance.TierWitness && !exitOfOpen(t.Run, a, typed.Exit):
			f.Failf("the runtime exited before it was ready, but the error does not hold its exit code: %v", a.Err)
		}
		for _, e := range t.Events {
			if e.Steps == i+1 {
				f.At(e, "%s of a session that was not opened", e.Type())
				break
			}
		}
	}
}

// quotesStderr reports whether the text of an error holds what the runtime wrote to stderr.
func quotesStderr(r *conformance.Run, err error) bool {
	for _, w := range r.Case.Wire {
		if text := strings.TrimSpace(string(w.Bytes)); w.Dir == fixtures.Err && text != "" {
			return strings.Contains(err.Error(), text)
		}
	}
	return false
}

// exitOfOpen reports whether a process exited with this code while it was opened.
func exitOfOpen(r *conformance.Run, a conformance.StepResult, code *int) bool {
	for _, p := range r.Played {
		if p.Line.Dir == fixtures.Exit && p.Line.Signal == "" && p.At >= a.At && p.At <= a.At+a.For {
			return code != nil && *code == p.Line.Code
		}
	}
	return true // a signal ended it
}

// quotes reports whether an error holds the runtime's message of its first rejection,
// if the wire has one.
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

// firstRefused returns the first process whose session was not opened, or 0.
func firstRefused(r *conformance.Run) int {
	for i, o := range r.Opens {
		if o.Step.Refused {
			return i + 1
		}
	}
	return 0
}
