package process

import (
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// GracefulClose is the check process.graceful-close.
var GracefulClose = &conformance.Check{
	ID: "process.graceful-close", Source: "runtimes that write their session to the disk when they end", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:       []string{"process.gentle"},
	Needs:         []string{"session_end"},
	Mend:          "Close stdin, wait for a grace, send SIGTERM, wait again, and send SIGKILL.",
	Sentence:      "To end a runtime, the subject closes its stdin, sends SIGTERM after a grace, and SIGKILL after another.",
	JudgesWritten: true,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		judgeGraceful(t.Run, f)
	},
	Faults: []string{"stall", "no-end-by-term"}, WithoutWaiting: true,
	JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
		judgeGraceful(r, f)
	},
}

// grace is the minimum time between two of these steps.
const grace = time.Second

// judgeGraceful judges the steps by which each process was ended.
func judgeGraceful(r *conformance.Run, f *conformance.Finding) {
	closed, termed := map[int]time.Time{}, map[int]time.Time{}
	for _, w := range r.ClientActions {
		switch {
		case w.Kind == standin.KindClose:
			f.Asserted(1)
			closed[w.Process] = w.At
		case w.Kind != standin.KindSignal:
		case isStop(r, w):
			termed[w.Process] = w.At
		case w.Method == string(proc.SIGTERM):
			f.Asserted(1)
			switch at, ok := closed[w.Process]; {
			case !ok:
				f.Failf("process %d got SIGTERM, but its stdin was not closed", w.Process)
			case w.At.Sub(at) < grace:
				f.Failf("process %d got SIGTERM %v after its stdin was closed, too early to end by itself", w.Process, w.At.Sub(at))
			}
			termed[w.Process] = w.At
		case w.Method == string(proc.SIGKILL):
			f.Asserted(1)
			switch at, ok := termed[w.Process]; {
			case !ok:
				f.Failf("process %d got SIGKILL, but no SIGTERM before", w.Process)
			case w.At.Sub(at) < grace:
				f.Failf("process %d got SIGKILL %v after SIGTERM, too early to end by itself", w.Process, w.At.Sub(at))
			}
		}
	}
}

// isStop reports whether a signal stops a turn: the subject was asked for that just before.
func isStop(r *conformance.Run, w standin.ClientAction) bool {
	return runindex.Runtime(r).IsStop(w.Method) && slices.ContainsFunc(r.Steps, func(a conformance.StepResult) bool {
		at := w.At.Sub(r.Start) - a.At
		return a.Step.Verb == fixtures.VerbStop && at >= 0 && at <= a.For+perform.PromptLimit
	})
}
