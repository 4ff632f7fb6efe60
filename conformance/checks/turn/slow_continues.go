package turn

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// SlowContinues is the check turn.slow-continues.
var SlowContinues = &conformance.Check{
	ID: "turn.slow-continues", Source: "timeouts that end the turn while the model thinks", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:    []string{"turn.slow-lives"},
	Mend:       "Before a time limit ends a turn, ask the runtime something that it answers at once. Continue if it answers.",
	Sentence:   "If the runtime writes nothing for minutes but answers requests, the turn and its tools continue, and the subject stops nothing.",
	Faults:     []string{"long-pause", "long-tool"},
	JudgeFault: judgeSlow,
}

// judgeSlow judges a run in which the runtime paused for minutes.
func judgeSlow(plain, r *conformance.Run, f *conformance.Finding) {
	if !runindex.HasStep(plain, fixtures.VerbKill) { // a signal then cuts the wire at another place
		faulted.JudgeHarmless(plain, r, f)
		judgePause(r, f)
	}
}

// judgePause demands that the subject only asks while the runtime pauses: it stops,
// answers and closes nothing.
func judgePause(r *conformance.Run, f *conformance.Finding) {
	if r.Hang != "" || !runindex.Played(r, r.Fault.Line) {
		return
	}
	from := runindex.LineOf(r, r.Fault.Line).At
	next := from + fault.PauseLength
	for _, w := range r.ClientActions {
		if at := w.At.Sub(r.Began); at > from+time.Minute && at < next-time.Minute && decides(w.Kind) {
			f.Failf("the runtime had been silent for %v, and the subject wrote %s %s %s", at-from, w.Kind, w.Method, w.Answer)
		}
	}
}

// decides reports whether a client's action of this kind does more than ask.
func decides(k standin.Kind) bool {
	switch k {
	case standin.KindAnswer, standin.KindStop, standin.KindSend, standin.KindSteer, standin.KindSet, standin.KindClose, standin.KindSignal:
		return true
	}
	return false
}
