package turn

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// ErrorWords is the check turn.error-words.
var ErrorWords = &conformance.Check{
	ID: "turn.error-words", Source: "users who read \"something went wrong\" in place of the reason", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"error.message", "error.code"},
	Needs:    []string{"turn", "error"},
	Mend:     "Copy the runtime's message into the error, and derive the code from the status or error type that it reports.",
	Sentence: "The error of a turn has a message, that of the runtime if it states one, and its code fits the reply of the model's API, the limit that was reached or the signal that ended the runtime.",
	Judge:    judgeErrorWords,
}

func judgeErrorWords(t *conformance.Trial, f *conformance.Finding) {
	statuses := lastStatuses(t.Run)
	for e, d := range runindex.EventsOf[event.Error](t.Run) {
		f.Asserted(1)
		if strings.TrimSpace(d.Message) == "" {
			f.At(e, "the error of turn %d has no message", e.Turn)
		}
		judgeCrashCode(t, e, d, f)
	}
	for _, end := range runindex.TurnEnds(t.Run) {
		d, is := end.Data.(event.Error)
		if !is {
			continue
		}
		if end.Failure != "" {
			f.Asserted(1)
			if got := t.Recorded(d.Message); !strings.Contains(got, t.Recorded(end.Failure)) {
				f.At(end.Event, "the runtime states %q, but the error of turn %d is %q", runindex.Clip(end.Failure), end.Turn, runindex.Clip(got))
			}
		}
		if !t.Supports("error.code") {
			continue
		}
		if end.Limited {
			f.Asserted(1)
			if d.Code != event.ErrorLimit {
				f.At(end.Event, "turn %d reached a limit, but its error has code %s", end.Turn, d.Code)
			}
			continue
		}
		want, known := fittingCodes[statuses[end.Turn]]
		if !known {
			continue
		}
		f.Asserted(1)
		if d.Code == event.ErrorUnknown && !end.Named {
			continue // the wire does not name the kind of the failure
		}
		if !slices.Contains(want, d.Code) {
			f.At(end.Event, "the model's API replied to turn %d with status %d, but its error has code %s, want one of %v", end.Turn, statuses[end.Turn], d.Code, want)
		}
	}
}

// judgeCrashCode demands that the error by which a turn ends because a signal ended the runtime
// is a crash.
func judgeCrashCode(t *conformance.Trial, e conformance.Event, d event.Error, f *conformance.Finding) {
	if e.Turn == 0 || e.Line == 0 || e.Line > len(t.Played) || !t.Supports("error.code") {
		return
	}
	const bySignal = 128 // the exit code of a runtime that ended by a signal is more
	if l := t.Played[e.Line-1].Line; l.Dir == fixtures.Exit && (l.Signal != "" || l.Code > bySignal) && d.Code != event.ErrorCrash {
		f.At(e, "a signal ended the runtime in turn %d, but the error has code %s, want %s", e.Turn, d.Code, event.ErrorCrash)
	}
}

// fittingCodes lists the codes that fit the status of a failed request. A runtime may
// name the reason more exactly than the API, or in a more general way.
var fittingCodes = map[int][]event.ErrorCode{
	400: {event.ErrorInvalid, event.ErrorContext, event.ErrorBilling},
	401: {event.ErrorAuth},
	402: {event.ErrorBilling, event.ErrorModel},
	403: {event.ErrorAuth},
	404: {event.ErrorModel, event.ErrorInvalid},
	413: {event.ErrorContext, event.ErrorInvalid},
	429: {event.ErrorRateLimit, event.ErrorBilling},
	500: {event.ErrorModel, event.ErrorOverloaded},
	502: {event.ErrorModel, event.ErrorNetwork, event.ErrorOverloaded},
	503: {event.ErrorOverloaded, event.ErrorModel},
	529: {event.ErrorOverloaded, event.ErrorModel},
}

// lastStatuses returns the HTTP status of the last request of each turn, if that
// request failed.
func lastStatuses(r *conformance.Run) map[int]int {
	turns, out := runindex.TurnsOfRequests(r), map[int]int{}
	for _, q := range runindex.Requests(r) {
		out[turns[q.Req]] = 0
		if q.Ended == fixtures.EndedFailed {
			out[turns[q.Req]] = q.Status
		}
	}
	delete(out, 0)
	return out
}
