package turn

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// StopIdempotent is the check turn.stop-idempotent.
var StopIdempotent = &conformance.Check{
	ID: "turn.stop-idempotent", Source: "clients whose stop button can be pressed twice", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:           "Remember that a stop is on its way. A second stop, or one without a running turn, writes nothing and returns nil.",
	Sentence:       "Stopping twice, or with no turn running, is harmless.",
	JudgesWritten:  true,
	AlternateSteps: stopAgain,
	Judge:          judgeStopAgain,
}

// stopAgain returns the steps with each stop repeated, and a stop before the first
// turn.
func stopAgain(s *fixtures.Scenario) []fixtures.Step {
	var out []fixtures.Step
	found, sent := false, false
	for _, a := range s.Client {
		if a.Verb == fixtures.VerbSend && !sent {
			sent = true
			out = append(out, fixtures.Step{Verb: fixtures.VerbStop, Line: a.Line})
		}
		if a.What == fixtures.StopAll { // a stop of the turn alone changes nothing
			out = append(out, fixtures.Step{Verb: fixtures.VerbStop, Line: a.Line})
		}
		out = append(out, a)
		if a.Verb == fixtures.VerbStop {
			found = true
			out = append(out, a)
		}
	}
	if !found {
		return nil
	}
	return out
}

func judgeStopAgain(t *conformance.Trial, f *conformance.Finding) {
	if t.Alternate == nil {
		return
	}
	for _, a := range t.Alternate.Steps {
		if a.Step.Verb == fixtures.VerbStop {
			f.Asserted(1)
			if a.Err != nil {
				f.Failf("a repeated stop, or one while no turn runs, fails: %v", a.Err)
			}
		}
	}
	if want, got := turnEnds(t.Run), turnEnds(t.Alternate); want != got {
		f.Diff("with more stops the turns end differently", want, got)
	}
}

// turnEnds returns how each turn ended, and its number of events.
func turnEnds(r *conformance.Run) string {
	var b strings.Builder
	n := map[int]int{}
	for _, e := range r.Events {
		n[e.Turn]++
		if e.Terminal() && e.SubagentID == "" {
			fmt.Fprintf(&b, "turn %d: %s, %d events\n", e.Turn, runindex.Describe(e.Data), n[e.Turn])
		}
	}
	return b.String()
}
