package turn

import (
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// EndStated is the check turn.end-stated.
var EndStated = &conformance.Check{
	ID: "turn.end-stated", Source: "the event contract (adapters/event): done, result", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"done.stopped", "done.reason", "result", "result.text", "result.stats.duration_ms", "result.stats.rounds"},
	Needs:    []string{"turn", "error"},
	Mend:     "Copy reason, duration, number of rounds and final text from the runtime's end of the turn. Do not compute them.",
	Sentence: "A turn ends as the runtime states: completed, stopped or failed, with its reason, and the result holds the stated text, duration and number of rounds.",
	Judge:    judgeEndStated,
}

func judgeEndStated(t *conformance.Trial, f *conformance.Finding) {
	results := map[int]*event.Result{}
	for e, d := range runindex.EventsOf[event.Result](t.Run) {
		if e.SubagentID == "" {
			results[e.Turn] = &d
		}
	}
	for _, end := range runindex.TurnEnds(t.Run) {
		f.Asserted(1)
		d, done := end.Data.(event.Done)
		if end.Closed {
			if done && d.Reason != "closed" && (d.Reason != "" || t.Supports("done.reason")) {
				f.At(end.Event, "the client closed the session in turn %d, and the runtime states no end of it, but done has the reason %q, not closed", end.Turn, d.Reason)
			}
			continue
		}
		switch end.End {
		case wire.EndFailed:
			if done && !d.Stopped { // a runtime may report a turn that the client stopped as failed
				f.At(end.Event, "the runtime states that turn %d failed, but it ends in %s", end.Turn, runindex.Describe(end.Data))
			}
			continue
		case wire.EndStopped:
			if !done || !d.Stopped {
				f.At(end.Event, "the runtime states that turn %d was stopped, but it ends in %s", end.Turn, runindex.Describe(end.Data))
			}
		case wire.EndCompleted:
			if !done || d.Stopped && !runindex.StopsTurn(t.Run) {
				f.At(end.Event, "the runtime states that turn %d was completed, but it ends in %s", end.Turn, runindex.Describe(end.Data))
			}
		}
		if done && d.Reason == "" && end.Reason != "" && t.Supports("done.reason") {
			f.At(end.Event, "done has no reason, but for the end of turn %d the runtime states %q", end.Turn, end.Reason)
		}
		if done && d.Reason != "" && d.Reason != end.Reason && !strings.EqualFold(d.Reason, string(end.End)) {
			f.At(end.Event, "done has the reason %q, but for the end of turn %d the runtime states %s; leave the reason out, or copy the name of the turn's end, which is not why the model stopped",
				d.Reason, end.Turn, statedEnd(end.Statement))
		}
		judgeStats(t, f, &end, results[end.Turn])
	}
}

// statedEnd describes how the runtime names the end of a turn.
func statedEnd(s wire.Statement) string {
	if s.Reason == "" {
		return strconv.Quote(string(s.End)) + " and no other reason"
	}
	return strconv.Quote(s.Reason)
}

// judgeStats compares a result with the end that the runtime states.
func judgeStats(t *conformance.Trial, f *conformance.Finding, end *runindex.TurnEnd, d *event.Result) {
	if !t.Supports("result") || d == nil {
		if t.Supports("result") && end.Result != "" && !runindex.StopsTurn(t.Run) && !compacts(t.Run, end.Turn) {
			f.At(end.Event, "the runtime states the result %q of turn %d, but no event holds it", runindex.Clip(end.Result), end.Turn)
		}
		if d == nil && (end.Duration > 0 || end.Rounds > 0) && t.Supports("result") && end.End == wire.EndCompleted && end.Reason == "" && runindex.Of(t.Run).TextOf(end.Turn) != "" {
			runindex.Demand(t, f, end.Event, "result.stats", false, strconv.FormatInt(end.Duration, 10)+" ms")
		}
		return
	}
	if end.Result != "" && t.Recorded(d.Text) != t.Recorded(end.Result) {
		f.At(end.Event, "the runtime states the result %q of turn %d, but the event has %q", runindex.Clip(end.Result), end.Turn, runindex.Clip(d.Text))
	}
	if d.Stats == nil {
		if (end.Duration > 0 || end.Rounds > 0) && t.Supports("result.stats") {
			f.At(end.Event, "the runtime states that turn %d took %d ms and %d rounds, but its result has no stats", end.Turn, end.Duration, end.Rounds)
		}
		return
	}
	if d.Stats.DurationMS != end.Duration || d.Stats.Rounds != end.Rounds {
		f.At(end.Event, "the runtime states that turn %d took %d ms and %d rounds, but its result has %d ms and %d rounds",
			end.Turn, end.Duration, end.Rounds, d.Stats.DurationMS, d.Stats.Rounds)
	}
}

// compacts reports whether a turn holds a compaction: the runtime states its outcome
// as the result.
func compacts(r *conformance.Run, turn int) bool {
	for e := range runindex.EventsOf[event.Compaction](r) {
		if e.Turn == turn {
			return true
		}
	}
	return false
}
