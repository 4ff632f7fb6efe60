package permission

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// WaitsForUser is the check permission.waits-for-user.
var WaitsForUser = &conformance.Check{
	ID: "permission.waits-for-user", Source: "questions that are answered by a timeout", Tiers: []conformance.Tier{conformance.TierTiming},
	Mend:           "Remove time limits from questions: only the user, the runtime or the end of the turn resolves one.",
	Sentence:       "A question stays open until the user answers it, however long: meanwhile the subject decides nothing, and the turn goes on afterwards.",
	JudgesWritten:  true,
	AlternateSteps: waitBeforeAnswer,
	Judge:          judgeWaits,
}

// late is how late an event may be that something before the wait caused.
const late = time.Second

// waitBeforeAnswer returns the steps with a long idle time before the first answer.
func waitBeforeAnswer(s *fixtures.Scenario) []fixtures.Step {
	i := slices.IndexFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbAnswer })
	if i < 0 || s.Client[i].Late {
		return nil
	}
	return slices.Insert(slices.Clone(s.Client), i, perform.LongIdle)
}

func judgeWaits(t *conformance.Trial, f *conformance.Finding) {
	if t.Alternate == nil {
		return
	}
	i := slices.IndexFunc(t.Alternate.Steps, func(a conformance.StepResult) bool { return a.Step.What == perform.LongIdle.What })
	if i < 0 || len(questions(t.Alternate)) == 0 {
		return
	}
	f.Asserted(2)
	from := t.Alternate.Steps[i].At
	to := from + t.Alternate.Steps[i].For
	for _, w := range t.Alternate.ClientActions {
		// A request that only asks whether the runtime lives does no harm.
		if at := w.At.Sub(t.Alternate.Start); at > from && at < to && decides(w.Kind) {
			f.Failf("a question was open for %v, and the subject wrote to the runtime: %s %s %s", at-from, w.Kind, w.Method, w.Answer)
			return
		}
	}
	for _, e := range t.Alternate.Events {
		if e.At > from+late && e.At < to {
			f.Failf("a question was open for %v, and the subject emitted %s", e.At-from, runindex.Describe(e.Data))
			return
		}
	}
	if want, got := endings(t.Run), endings(t.Alternate); !slices.Equal(want, got) {
		f.Failf("the user answered after %v: the turns end as %v, want %v", to-from, got, want)
	}
}

// endings returns how the turns of a run ended.
func endings(r *conformance.Run) (out []string) {
	for _, e := range r.Events {
		if e.Terminal() && e.SubagentID == "" {
			out = append(out, runindex.Describe(e.Data))
		}
	}
	return out
}

// decides reports whether a client's action of this kind does more than ask.
func decides(k standin.Kind) bool {
	switch k {
	case standin.KindAnswer, standin.KindStop, standin.KindSend, standin.KindSteer, standin.KindSet, standin.KindClose, standin.KindSignal:
		return true
	}
	return false
}
