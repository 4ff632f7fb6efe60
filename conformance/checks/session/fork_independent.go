package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// ForkIndependent is the check session.fork-independent.
var ForkIndependent = &conformance.Check{
	ID: "session.fork-independent", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"session_id", "session_ready.forked_from"},
	Needs:    []string{"session_ready.forked_from"},
	Mend:     "Fork with the runtime's own fork request, use the id that it returns, and route lines to a session by that id.",
	Sentence: "A fork has a new id and the history up to the fork. A turn in one does not appear in the other.",
	Judge:    judgeFork,
}

// judgeFork demands that each session of the run has a different id of the runtime,
// that a fork reports the session it was forked from, and that no session reports the
// messages of another.
func judgeFork(t *conformance.Trial, f *conformance.Finding) {
	var forks []conformance.OpenResult
	for _, o := range t.Opens {
		if o.Step.What == "fork" && !o.Step.Refused {
			forks = append(forks, o)
		}
	}
	if len(forks) == 0 {
		return
	}
	own := map[string]string{} // ours → the runtime's
	by := map[string]string{}  // the runtime's → ours
	n := 0
	for e, d := range runindex.EventsOf[event.SessionReady](t.Run) {
		id := d.ProviderSessionID
		if was, known := own[e.SessionID]; known && was != id {
			f.At(e, "the id of session %s is %s now, it was %s", e.SessionID, id, was)
		}
		if was, known := by[id]; known && was != e.SessionID {
			f.At(e, "sessions %s and %s both have the id %s", was, e.SessionID, id)
		}
		own[e.SessionID], by[id] = id, e.SessionID
		if d.ForkedFrom == "" {
			continue
		}
		f.Asserted(1)
		if n < len(forks) && d.ForkedFrom != forks[n].Resume {
			f.At(e, "forked_from is %q, it was forked from %q", d.ForkedFrom, forks[n].Resume)
		}
		n++
	}
	if n < len(forks) {
		f.Asserted(1)
		f.Failf("%d forks were opened, %d sessions report forked_from", len(forks), n)
	}
}
