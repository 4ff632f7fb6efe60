package time

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fixtures"
)

// TS is the check time.ts.
var TS = &conformance.Check{
	ID: "time.ts", Source: "the event contract (adapters/event): ts", Tiers: []conformance.Tier{conformance.TierTiming},
	Judges:     []string{"ts"},
	Needs:      []string{"ts"},
	Mend:       "Take the time when a line is read, and use it for all its events. Do not take it when the event is delivered.",
	Sentence:   "ts is the time at which the line that caused an event arrived, to the nanosecond, also if the listener receives the event later.",
	Faults:     []string{"flood"},
	Judge:      judgeTS,
	JudgeFault: judgeTSOfWaiting,
}

// judgeTS judges a run whose listener receives each event at once. An adapter that
// delays events fails time.no-added-delay, and not this check.
func judgeTS(t *conformance.Trial, f *conformance.Finding) {
	delays := addsDelay(t)
	for _, e := range t.Events {
		f.Asserted(1)
		if at := t.Start.Add(e.At); !e.TS.Equal(at) && !wasDelayed(t.Run, e, delays) {
			f.At(e, "%s was caused at %s, but its ts is %s", e.Type(), at.Format(time.RFC3339Nano), e.TS.Format(time.RFC3339Nano))
			return
		}
	}
}

// wasDelayed reports whether the ts of an event is the time of an earlier line that
// caused it. If the subject is known to delay events, it may be any earlier time at which
// something happened; if not, a line of that time must hold what the event holds.
func wasDelayed(r *conformance.Run, e conformance.Event, delays bool) bool {
	ts := e.TS.Sub(r.Start)
	if ts >= e.At {
		return false
	}
	if delays && runindex.Moments(r).Contain(ts) {
		return true
	}
	lines := runindex.Of(r).Lines()
	for i, p := range r.Played {
		if p.At == ts && p.Line.Dir == fixtures.Out && holds(r, &lines[i], p.Line.Bytes, e.Data) {
			return true
		}
	}
	return false
}

// holds reports whether a line holds the call of an event of a tool, or the beginning of
// its text.
func holds(r *conformance.Run, l *runindex.Line, line []byte, d event.Data) bool {
	text, _ := event.ToolID(d)
	if d, is := d.(event.Delta); is {
		text = d.Text
		if l.Text() != "" && strings.HasPrefix(text, l.Text()) {
			return true
		}
	}
	quoted, err := jsontext.AppendQuote(nil, r.Recorded(text))
	return err == nil && text != "" && bytes.Contains(line, quoted[1:len(quoted)-1])
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
			f.Failf("the line of %s arrived at %s, before the listener paused, but its ts is %s", e.Type(), at.Format(time.RFC3339Nano), e.TS.Format(time.RFC3339Nano))
		}
		return
	}
}
