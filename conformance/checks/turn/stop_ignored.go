package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// StopIgnored is the check turn.stop-ignored.
var StopIgnored = &conformance.Check{
	ID: "turn.stop-ignored", Source: "runtimes that hang in a tool and read no interrupt", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:    []string{"time.limits"},
	Needs:      []string{"turn"},
	Mend:       "Start a timer in Stop and stop it at the end of the turn. When it fires, end the runtime, close what is open, emit error with code timeout and let Stop return.",
	Sentence:   "If the runtime ignores an interrupt, Stop still returns and the turn ends within the limit, also while a tool or a question is open.",
	Faults:     []string{"stop-ignored"},
	JudgeFault: judgeStopIgnored,
}

// judgeStopIgnored judges the first stop after which the runtime wrote nothing.
func judgeStopIgnored(plain, r *conformance.Run, f *conformance.Finding) {
	if hangs(r, f) || !runindex.Played(r, r.Fault.Line) {
		return
	}
	if _, ok := sameBefore(plain, r, f); !ok {
		f.Asserted(1)
		return
	}
	ignored := runindex.LineOf(r, r.Fault.Line)
	for i, a := range r.Steps {
		if a.Step.Verb != fixtures.VerbStop || a.At < ignored.At {
			continue
		}
		turn := runindex.Of(r).TurnAt(i)
		if turn == nil {
			return
		}
		f.Asserted(1)
		if a.For > perform.EndLimit {
			f.Failf("the runtime ignores the interrupt, and Stop returned after %v", a.For)
		}
		switch end, ended := turn.End(); {
		case !ended:
			f.Failf("the runtime ignores the interrupt, and turn %d has no end", turn.N)
		case end.At > a.At+perform.EndLimit:
			f.At(end, "the runtime ignores the interrupt, and turn %d ends %v after the stop", turn.N, end.At-a.At)
		default:
			if d, is := end.Data.(event.Done); is && !d.Stopped {
				f.At(end, "turn %d was stopped, but ends as if it were complete", turn.N)
			}
		}
		return
	}
}
