package time

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/faulted"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
)

// TS is the check time.ts.
var TS = &conformance.Check{
	ID: "time.ts", Source: "the event contract (adapters/event): ts", Tiers: []conformance.Tier{conformance.TierTiming},
	Judges:     []string{"ts"},
	Needs:      []string{"ts"},
	Sentence:   "ts is the time at which the line that caused an event arrived, to the nanosecond, also if the listener receives the event later.",
	Faults:     []string{"flood"},
	Judge:      judgeTS,
	JudgeFault: judgeTSOfWaiting,
}

// judgeTS judges a run whose listener receives each event at once.
func judgeTS(t *conformance.Trial, f *conformance.Finding) {
	for _, e := range t.Events {
		f.Asserted(1)
		if at := t.Start.Add(e.At); !e.TS.Equal(at) {
			f.At(e, "%s was caused at %s, but its ts is %s", e.Type(), at.Format(time.RFC3339Nano), e.TS.Format(time.RFC3339Nano))
			return
		}
	}
}

// judgeTSOfWaiting judges the event that waited while the listener received none: its
// line arrived before the pause.
func judgeTSOfWaiting(plain, r *conformance.Run, f *conformance.Finding) {
	if r.Hang != "" || r.ListenerPause == nil || r.ListenerPause.Depth == 0 {
		return // time.backlog judges that
	}
	line := runindex.LineOf(r, r.Fault.Line)
	for _, e := range r.Events {
		if e.At < line.At+perform.PauseLength {
			continue
		}
		f.Asserted(1)
		if at := r.Start.Add(line.At); e.TS.After(at) {
			faulted.Failer(r, f)("the line of %s arrived at %s, before the listener paused, but its ts is %s", e.Type(), at.Format(time.RFC3339Nano), e.TS.Format(time.RFC3339Nano))
		}
		return
	}
}
