package checks

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// actChecks are about what the acts of a client return.
func actChecks() []*conformance.Check {
	witness := []conformance.Tier{conformance.TierWitness}
	return []*conformance.Check{
		{
			ID: "session.acts-told", Severity: conformance.Must, Source: "user interfaces that say it failed, of what was done", Tiers: witness,
			Sentence: "An act that the runtime does returns no error, and one that it refuses returns one.",
			Judge:    judgeActs,
		},
		{
			ID: "session.ended-refuses", Severity: conformance.Must, Source: "adapters whose send hangs when the process dies", Tiers: witness,
			Sentence: "When a session has ended, by itself or by Close, a message to it fails, and Stop and another Close return.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				judgeEnded(t.Run, f, f.Failf)
			},
			Faults: []string{"kill", "close-stdout"},
			JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
				judgeEnded(r, f, failer(r, f))
			},
		},
		{
			ID: "session.gives-up", Severity: conformance.Must, Source: "calls that nobody can cancel", Tiers: witness,
			Sentence: "An act whose context ends returns an error at once, and Open ends what it has started.",
			Faults:   []string{"no-reply", "no-handshake-in-time"}, JudgeFault: judgeGivesUp,
		},
		{
			ID: "session.leaves-nothing", Severity: conformance.Must, Source: "clients that free what their tools use when the session is closed", Tiers: witness,
			Sentence: "When Close has returned, no tool or hook of the client's is at work for the session any more.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				judgeLeft(t.Run, f, f.Failf)
			},
			Faults: []string{"kill"},
			JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
				judgeLeft(r, f, failer(r, f))
			},
		},
		{
			ID: "session.close-unheard", Severity: conformance.Must, Source: "windows that are closed while the model talks", Tiers: witness,
			Sentence: "Close returns though nobody takes the session's events any more, and ends the runtime.",
			Faults:   []string{"nobody-listens"}, JudgeFault: judgeUnheard,
		},
		{
			ID: "session.idle-lives", Severity: conformance.Must, Source: "sessions that are gone when the user comes back from lunch", Tiers: []conformance.Tier{conformance.TierTiming},
			Sentence:       "A session in which nothing runs is left alone however long: nothing is told and nothing asked of the runtime.",
			JudgesWritten:  true,
			AlternateSteps: restAtTheEnd, Judge: judgeRest,
		},
	}
}

// restAtTheEnd: after a turn that went well, and after one that was stopped.
func restAtTheEnd(s *fixtures.Scenario) []fixtures.Step {
	if len(s.Faults) == 0 && !slices.ContainsFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbStop }) {
		return nil
	}
	return append(slices.Clip(s.Client), fixtures.Step{Verb: fixtures.VerbWait, What: "idle"}, perform.LongIdle)
}

func judgeRest(t *conformance.Trial, f *conformance.Finding) {
	if t.Alternate == nil {
		return
	}
	for i, a := range t.Alternate.Steps {
		if a.Step.What != perform.LongIdle.What {
			continue
		}
		f.Asserted(1)
		over := func(at time.Duration) bool { return at > a.At && at < a.At+a.For }
		for _, e := range t.Alternate.Events {
			if e.Steps == i+1 && over(e.At) {
				f.Failf("nothing was asked for %v, and %s is told", e.At-a.At, describe(e.Data))
				break
			}
		}
		for _, w := range t.Alternate.ClientActions {
			if at := w.At.Sub(t.Alternate.Start); over(at) {
				f.Failf("nothing was asked for %v, and the subject writes to the runtime: %s %s", at-a.At, w.Kind, w.Method)
				break
			}
		}
	}
}

// judgeUnheard looks at how long Close took, and what it left.
func judgeUnheard(_, r *conformance.Run, f *conformance.Finding) {
	fail := failer(r, f)
	for _, a := range r.Steps {
		if a.Step.Verb != fixtures.VerbClose {
			continue
		}
		f.Asserted(1)
		if limit := r.Fault.ClientTimeout + perform.EndLimit; perform.Unfinished(a.Err) || a.For > limit {
			fail("nobody takes the events, and Close returns after %v, the limit is %v", a.For, limit)
		}
	}
	judgeOrphans(r, f, fail)
}

// judgeLeft compares when the tools and hooks returned that nobody waited for any
// more with when the session was closed.
func judgeLeft(r *conformance.Run, f *conformance.Finding, fail func(string, ...any)) {
	for _, w := range r.BlockedCalls {
		if !w.Cancelled {
			continue
		}
		for _, a := range slices.Concat(r.Steps, r.StepsAfterEnd) {
			closed := a.At + a.For
			if a.Step.Verb != fixtures.VerbClose || a.Err != nil || closed < w.At {
				continue
			}
			f.Asserted(1)
			if w.Returned == 0 || w.Returned > closed {
				fail("the session is closed, and %s is still at work for it", w.Name)
			}
			break
		}
	}
}

// judgeGivesUp looks at the acts for which the client had no more patience.
func judgeGivesUp(_, r *conformance.Run, f *conformance.Finding) {
	fail := failer(r, f)
	for _, a := range r.Steps {
		limit := r.Fault.ClientTimeout
		switch a.Step.Verb {
		case fixtures.VerbClose, fixtures.VerbArchive:
			continue // they take what it takes
		case fixtures.VerbOpen:
			limit += perform.EndLimit // the process has to end
		}
		if a.For < r.Fault.ClientTimeout {
			continue
		}
		f.Asserted(1)
		switch {
		case perform.Unfinished(a.Err) || a.For > limit:
			fail("the context of %s ended after %v, and it returned after %v", named(a.Step), r.Fault.ClientTimeout, a.For)
		case a.Err == nil:
			fail("the context of %s ended before the runtime had replied, and no error says so", named(a.Step))
		}
	}
}

// judgeActs: what a wait or a write of the suite returns is no subject's.
func judgeActs(t *conformance.Trial, f *conformance.Finding) {
	for _, a := range t.Steps {
		switch a.Step.Verb {
		case fixtures.VerbWait, fixtures.VerbRelease, fixtures.VerbWrite, fixtures.VerbKill, fixtures.VerbAside, fixtures.VerbRaw, fixtures.VerbShut:
			continue
		}
		if a.Step.Late || perform.Unfinished(a.Err) || perform.NotStarted(a.Err) {
			continue // another check's
		}
		f.Asserted(1)
		switch {
		case a.Step.Refused && a.Err == nil:
			f.Failf("the runtime refused to %s, and no error says so", named(a.Step))
		case a.Step.Refused && said(a.Err) == "":
			f.Failf("the runtime refused to %s, and the error has no words", named(a.Step))
		case !a.Step.Refused && a.Err != nil:
			f.Failf("%s failed, and the runtime did it: %v", named(a.Step), a.Err)
		}
	}
}

// said are the words of an error. One that is not whole may have none: it panics.
func said(err error) (words string) {
	defer func() { _ = recover() }()
	return err.Error()
}

// named is an act in the words of its scenario, without what the user says.
func named(a fixtures.Step) string {
	s := string(a.Verb)
	if a.What != "" {
		s += " " + a.What
	}
	if a.ID != "" {
		s += " " + a.ID
	}
	return s
}

// judgeEnded looks at the acts on a session that had ended.
func judgeEnded(r *conformance.Run, f *conformance.Finding, fail func(string, ...any)) {
	for _, a := range r.StepsAfterEnd {
		f.Asserted(1)
		switch {
		case perform.Unfinished(a.Err):
			fail("the session has ended: %v", a.Err)
		case a.Step.Verb == fixtures.VerbSend && a.Err == nil:
			fail("the session has ended, and takes a message")
		case a.Step.Verb == fixtures.VerbClose && a.Err != nil:
			fail("the session was closed, and closing it again is an error: %v", a.Err)
		}
	}
}
