package time

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/fault"
)

// Backlog is the check time.backlog.
var Backlog = &conformance.Check{
	ID: "time.backlog", Source: "adapters whose queue grows, or drops, while a window is in the background", Tiers: []conformance.Tier{conformance.TierTiming},
	Needs:      []string{"delta"},
	Mend:       "Bound the queue between reader and listener, and stop reading stdout when it is full. Report its depth and the age of its oldest event.",
	Sentence:   "With a slow listener the queue is bounded, no event is lost or out of order, and the depth and the age of the oldest event are reported.",
	Faults:     []string{"flood"},
	JudgeFault: judgeBacklog,
}

// judgeBacklog judges a run in which the runtime wrote many deltas at once while the
// listener received no events. Depth and age are judged if the subject reports them.
func judgeBacklog(plain, r *conformance.Run, f *conformance.Finding) {
	s := r.ListenerPause
	if s == nil && (r.Hang == "" || plain.Hang != "") {
		return // the run ended before the fault
	}
	f.Asserted(1)
	if r.Hang != "" {
		f.Failf("the subject hangs: %s", r.Hang)
		return
	}
	if s.Unread == 0 {
		f.Failf("the listener received nothing for %v, but the subject read all %d deltas: its queue has no bound", perform.PauseLength, fault.FloodDeltas)
	}
	var text strings.Builder
	for _, e := range r.Events {
		if d, ok := e.Data.(event.Delta); ok {
			text.WriteString(d.Text)
		}
	}
	if want, got := fault.FloodText(), text.String(); !strings.Contains(got, want) {
		f.Failf("the runtime wrote %d deltas while the listener was slow; some are lost or out of order: %s", fault.FloodDeltas, firstGap(want, got))
	}
	if s.Depth < 0 {
		return
	}
	f.Asserted(1)
	switch {
	case s.Depth == 0:
		f.Failf("events wait for the listener, but the subject reports an empty backlog")
	case s.Oldest < perform.PauseLength/2 || s.Oldest > perform.PauseLength:
		f.Failf("the listener received nothing for %v, but the subject reports that the oldest event has waited %v", perform.PauseLength, s.Oldest)
	}
	if s.After > 0 {
		f.Failf("the listener has received all events, but the subject reports a backlog of %d", s.After)
	}
}

// firstGap returns the place of the first missing or misplaced delta.
func firstGap(want, got string) string {
	i := strings.Index(got, want[:3])
	if i < 0 {
		return "its first delta is missing"
	}
	n := 0
	for n < len(want) && i+n < len(got) && got[i+n] == want[n] {
		n++
	}
	return "after " + runindex.Clip(want[max(0, n-16):n]) + " comes " + runindex.Clip(got[i+n:min(len(got), i+n+32)])
}
