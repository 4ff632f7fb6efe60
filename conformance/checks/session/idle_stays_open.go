package session

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// IdleStaysOpen is the check session.idle-stays-open.
var IdleStaysOpen = &conformance.Check{
	ID: "session.idle-stays-open", Source: "sessions that are gone when the user comes back from lunch", Tiers: []conformance.Tier{conformance.TierTiming},
	Aliases:        []string{"session.idle-lives"},
	Mend:           "Apply time limits only while a turn or a request runs. Remove idle timers, and keep-alive messages that the runtime did not ask for.",
	Sentence:       "A session in which nothing runs stays open, however long: the subject emits nothing, writes nothing to the runtime, and the next message has its turn.",
	JudgesWritten:  true,
	AlternateSteps: idleLong, Judge: judgeIdle,
}

// idleLong adds a long idle time at the end of the scenarios that name their own faults,
// which are plain, and of those in which a turn is stopped. There the client stops by two
// calls at once, whose limits must both be cancelled, and is idle before its next message
// too.
func idleLong(s *fixtures.Scenario) []fixtures.Step {
	stopped, open := false, 0 // messages whose turn has not ended
	var out []fixtures.Step
	for i, a := range s.Client {
		switch {
		case a.Verb == fixtures.VerbStop:
			stopped = true
			a.What = cmp.Or(a.What, perform.StopTwice.What)
		case a.Verb == fixtures.VerbSend || a.Verb == fixtures.VerbSteer:
			open++
		case a.Verb == fixtures.VerbWait && a.What == "end":
			open--
		}
		out = append(out, a)
		if stopped && open == 0 && a.Verb == fixtures.VerbWait && a.What == "end" && i+1 < len(s.Client) && s.Client[i+1].Verb == fixtures.VerbSend {
			out = append(out, perform.LongIdle)
		}
	}
	if len(s.Faults) == 0 && !stopped {
		return nil
	}
	return append(out, fixtures.Step{Verb: fixtures.VerbWait, What: "idle"}, perform.LongIdle)
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
	if want, got := turnEnds(t.Run), turnEnds(t.Alternate); want != got {
		f.Diff(whatWasDone(t.Alternate)+" the turns end differently", want, got)
	}
}

// whatWasDone says how the client of a run differs from that of the recording.
func whatWasDone(r *conformance.Run) string {
	stops, idle := "", time.Duration(0)
	for _, a := range r.Steps {
		switch {
		case a.Step.Verb == perform.StopTwice.Verb && a.Step.What == perform.StopTwice.What:
			stops = "calls Stop twice at once and "
		case a.Step.Verb == perform.LongIdle.Verb && a.Step.What == perform.LongIdle.What:
			idle = a.For
		}
	}
	return fmt.Sprintf("if the client %sis idle for %v after the turn,", stops, idle)
}

// turnEnds returns how each turn ended.
func turnEnds(r *conformance.Run) string {
	var b strings.Builder
	for _, e := range r.Events {
		if e.Terminal() && e.Turn > 0 && e.SubagentID == "" {
			fmt.Fprintf(&b, "turn %d: %s\n", e.Turn, runindex.Describe(e.Data))
		}
	}
	return b.String()
}
