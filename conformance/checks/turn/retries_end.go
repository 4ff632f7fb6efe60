package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fakes/fault"
)

// RetriesEnd is the check turn.retries-end.
var RetriesEnd = &conformance.Check{
	ID: "turn.retries-end", Source: "wire/opencode: 1.15.13 asks a model that fails again without a limit", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"turn", "error"},
	Mend:       "Count the attempts that the runtime announces for a turn, or their time. At a limit stop the turn and emit error.",
	Sentence:   "If the runtime asks a failing model again without an end, the subject ends the turn in an error.",
	Faults:     []string{"endless-retries"},
	JudgeFault: judgeRetriesEnd,
}

// judgeRetriesEnd judges a run in which the runtime announced one attempt after the other.
// The error must come before they stop: a limit for a silent runtime is another one.
func judgeRetriesEnd(plain, r *conformance.Run, f *conformance.Finding) {
	if hangs(r, f) || !runindex.Played(r, r.Fault.Line) {
		return
	}
	f.Asserted(1)
	n, ok := sameBefore(plain, r, f)
	if !ok {
		return
	}
	last := runindex.LineOf(r, r.Fault.Line).At + fault.EndlessRetriesLength
	for _, e := range r.Events[n:] {
		if e.Type() == event.TypeError && (r.Tier == conformance.TierProcess || e.At <= last) {
			return
		}
	}
	f.Failf("the runtime announced %d attempts, and the subject ended the turn in no error", attempts(r))
}

// attempts returns how often the fault's line was played.
func attempts(r *conformance.Run) (n int) {
	line := runindex.LineOf(r, r.Fault.Line)
	for _, p := range r.Played {
		if p.Line.Line == line.Line.Line {
			n++
		}
	}
	return n
}
