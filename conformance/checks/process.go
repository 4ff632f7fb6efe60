package checks

import (
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
)

// grace is the least that a runtime is given between two steps of its end.
const grace = time.Second

// processChecks are about how a subject ends a runtime.
func processChecks() []*conformance.Check {
	witness := []conformance.Tier{conformance.TierWitness}
	return []*conformance.Check{
		{
			ID: "process.gentle", Severity: conformance.Must, Source: "runtimes that write their session to the disk when they end", Tiers: witness,
			Sentence:      "A runtime is ended gently: its stdin is closed, SIGTERM follows after a grace, and SIGKILL after another one.",
			JudgesWritten: true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				judgeGentle(t.Run, f, f.Failf)
			},
			Faults: []string{"stall", "no-end-by-term"},
			JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
				judgeGentle(r, f, failer(r, f))
			},
		},
		{
			ID: "process.no-orphans", Severity: conformance.Must, Source: "runtimes that live on when their window is closed", Tiers: witness,
			Sentence:      "When a session was closed, or did not open, no process of its runtime is left.",
			JudgesWritten: true,
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				judgeOrphans(t.Run, f, f.Failf)
			},
			Faults: []string{"stall", "close-stdout", "no-handshake-in-time", "no-end-by-term"},
			JudgeFault: func(_, r *conformance.Run, f *conformance.Finding) {
				judgeOrphans(r, f, failer(r, f))
			},
		},
	}
}

// judgeGentle looks at the steps by which each process was ended.
func judgeGentle(r *conformance.Run, f *conformance.Finding, fail func(string, ...any)) {
	closed, termed := map[int]time.Time{}, map[int]time.Time{}
	for _, w := range r.ClientActions {
		switch {
		case w.Kind == standin.KindClose:
			f.Asserted(1)
			closed[w.Process] = w.At
		case w.Kind != standin.KindSignal:
		case w.Method == string(proc.SIGTERM):
			f.Asserted(1)
			switch at, ok := closed[w.Process]; {
			case !ok:
				fail("process %d got SIGTERM, and its stdin was not closed", w.Process)
			case w.At.Sub(at) < grace:
				fail("process %d got SIGTERM %v after its stdin was closed: that is no time to end in", w.Process, w.At.Sub(at))
			}
			termed[w.Process] = w.At
		case w.Method == string(proc.SIGKILL):
			f.Asserted(1)
			switch at, ok := termed[w.Process]; {
			case !ok:
				fail("process %d got SIGKILL, and no SIGTERM before", w.Process)
			case w.At.Sub(at) < grace:
				fail("process %d got SIGKILL %v after SIGTERM: that is no time to end in", w.Process, w.At.Sub(at))
			}
		}
	}
}

// judgeOrphans looks at what is left of the processes of a run.
func judgeOrphans(r *conformance.Run, f *conformance.Finding, fail func(string, ...any)) {
	if r.Hang != "" || len(r.Opens) == 0 {
		return // another check's
	}
	f.Asserted(len(r.Opens))
	if r.LeftRunning > 0 {
		fail("%d processes of the runtime still run when all is closed", r.LeftRunning)
	}
}

// judgeUnsupported: what the runtime asks and nobody knows gets an error for a
// reply, once and at once, and changes nothing else.
func judgeUnsupported(plain, r *conformance.Run, f *conformance.Finding) {
	const id = "weather-"
	var asked *conformance.PlayedLine
	for i, p := range r.Played {
		if strings.Contains(string(p.Line.Bytes), `"`+id) {
			asked = &r.Played[i]
		}
	}
	if asked == nil && r.Hang == "" {
		return // the run had ended before
	}
	before := f.Assertions
	judgeHarmless(plain, r, f)
	if f.Assertions == before || r.Hang != "" {
		return
	}
	fail, n := failer(r, f), 0
	for _, w := range r.ClientActions {
		if w.Kind == standin.KindClose && w.Process == asked.Line.Process && w.At.Sub(r.Start) <= asked.At {
			return // who has closed stdin replies to nothing
		}
		if w.Kind != standin.KindAnswer || !strings.HasPrefix(w.RequestID, id) {
			continue
		}
		n++
		if w.Answer != standin.Failed && w.Answer != standin.Deny {
			fail("the subject does not know what is asked, and says %s", w.Answer)
		}
		if late := w.At.Sub(r.Start) - asked.At; !r.Start.IsZero() && late > 0 {
			fail("the reply comes %v after the request", late)
		}
	}
	if n != 1 {
		fail("%d replies to a request that nobody knows, want one, an error", n)
	}
}
