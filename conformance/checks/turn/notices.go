package turn

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Notices is the check turn.notices.
var Notices = &conformance.Check{
	ID: "turn.notices", Source: "the event contract (adapters/event): notice", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"notice", "notice.level", "notice.code", "notice.text", "notice.raw"},
	Needs:    []string{"notice"},
	Mend:     "Emit one notice for each retry and each warning of the runtime, with its words, its level and the raw line.",
	Sentence: "Each retry and each warning that the runtime states is reported by one notice with its words: of the level warning if the runtime calls it a warning, and never of the level error. No retry is reported that it does not state. The raw message of a notice is a line of the runtime.",
	Judge:    judgeNotices,
}

func judgeNotices(t *conformance.Trial, f *conformance.Finding) {
	var notices []conformance.Event
	for e := range runindex.EventsOf[event.Notice](t.Run) {
		notices = append(notices, e)
	}
	used := make([]bool, len(notices))
	find := func(line int, s wire.Statement) int {
		for i, e := range notices {
			d, _ := e.Data.(event.Notice)
			isRetry := d.Code == event.NoticeRetry
			if !used[i] && e.Line > line && isRetry == (s.Notice == wire.NoticeRetry) && strings.Contains(t.Recorded(d.Text), t.Recorded(s.Text)) {
				used[i] = true
				return i
			}
		}
		return -1
	}
	closed := closedAfter(t.Run, 0)
	for i, s := range runindex.StatementsOf(t.Run) {
		if s.Notice == "" {
			continue
		}
		n := find(i, s)
		if t.Played[i].At >= closed || runindex.OpenFailed(t.Run, t.Played[i].Line.Line) {
			continue // a notice may report it, but need not
		}
		f.Asserted(1)
		switch {
		case n >= 0:
			if d, _ := notices[n].Data.(event.Notice); s.Warns && d.Level != event.LevelWarning || d.Level == event.LevelError {
				f.At(notices[n], "the runtime states a %s, but its notice has the level %s", s.Notice, d.Level)
			}
		default:
			f.Problems = append(f.Problems, conformance.Problem{Line: t.Played[i].Line.Line, Missing: true,
				Text: "no notice reports the " + string(s.Notice) + ": " + runindex.Clip(s.Text)})
		}
	}
	judgeRaw(t, f, notices)
	if runindex.Runtime(t.Run).ClientRunsTurns {
		return // the subject itself tries again
	}
	for i, e := range notices {
		if d, _ := e.Data.(event.Notice); d.Code == event.NoticeRetry && !used[i] && e.SubagentID == "" {
			f.At(e, "a notice reports a retry that the runtime has not stated: %s", runindex.Clip(d.Text))
		}
	}
}

// judgeRaw demands that the raw message of a notice is a line that was played before.
func judgeRaw(t *conformance.Trial, f *conformance.Finding, notices []conformance.Event) {
	for _, e := range notices {
		d, _ := e.Data.(event.Notice)
		if len(d.Raw) == 0 {
			continue
		}
		f.Asserted(1)
		raw := []byte(t.Recorded(string(d.Raw)))
		found := false
		for i := min(e.Line, len(t.Played)) - 1; i >= 0 && !found; i-- {
			found = wire.SameJSON(raw, t.Played[i].Line.Bytes)
		}
		if !found {
			f.At(e, "the raw message of a notice is no line of the runtime: %s", runindex.Clip(string(raw)))
		}
	}
}
