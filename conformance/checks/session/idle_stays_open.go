package session

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// IdleStaysOpen is the check session.idle-stays-open.
var IdleStaysOpen = &conformance.Check{
	ID: "session.idle-stays-open", Source: "sessions that are gone when the user comes back from lunch", Tiers: []conformance.Tier{conformance.TierTiming},
	Aliases:        []string{"session.idle-lives"},
	Sentence:       "A session in which nothing runs stays open, however long: the subject emits nothing and writes nothing to the runtime.",
	JudgesWritten:  true,
	AlternateSteps: idleAtTheEnd, Judge: judgeIdle,
}

// idleAtTheEnd adds a long idle time to the scenarios that name their own faults,
// which are plain, and to those in which a turn is stopped.
func idleAtTheEnd(s *fixtures.Scenario) []fixtures.Step {
	if len(s.Faults) == 0 && !slices.ContainsFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbStop }) {
		return nil
	}
	return append(slices.Clip(s.Client), fixtures.Step{Verb: fixtures.VerbWait, What: "idle"}, perform.LongIdle)
}

func judgeIdle(t *conformance.Trial, f *conformance.Finding) {
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
				f.Failf("the session was idle for %v, but the subject emitted %s", e.At-a.At, runindex.Describe(e.Data))
				break
			}
		}
		for _, w := range t.Alternate.ClientActions {
			if at := w.At.Sub(t.Alternate.Start); over(at) {
				f.Failf("the session was idle for %v, but the subject wrote to the runtime: %s %s", at-a.At, w.Kind, w.Method)
				break
			}
		}
	}
}
