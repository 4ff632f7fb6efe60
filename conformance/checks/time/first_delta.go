package time

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// FirstDelta is the check time.first-delta.
var FirstDelta = &conformance.Check{
	ID: "time.first-delta", Source: "adapters that wait for a sentence before they emit a word", Tiers: []conformance.Tier{conformance.TierTiming},
	Mend:     "Emit the first delta when its line is read. Do not wait for a sentence, a message or a minimal size.",
	Sentence: "The first delta of the wire is emitted at once.",
	Judge:    judgeFirstDelta,
}

// judgeFirstDelta judges the first text delta of the session.
func judgeFirstDelta(t *conformance.Trial, f *conformance.Finding) {
	first := slices.IndexFunc(t.Events, func(e conformance.Event) bool {
		d, ok := e.Data.(event.Delta)
		return ok && d.Text != "" && e.SubagentID == ""
	})
	for i, l := range runindex.Of(t.Run).Lines() {
		if l.Text() == "" || !l.Main {
			continue
		}
		p := t.Played[i]
		f.Asserted(1)
		switch {
		case first < 0: // a missing delta is not late: other checks report it
		case t.Events[first].Line > i+1:
			f.At(t.Events[first], "the first delta is emitted %v and %d lines after that of the wire", t.Events[first].At-p.At, t.Events[first].Line-i-1)
		case t.Events[first].At > p.At:
			f.At(t.Events[first], "the first delta is emitted %v after that of the wire", t.Events[first].At-p.At)
		}
		return
	}
}
