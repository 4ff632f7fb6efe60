package session

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// ArchiveCloses is the check session.archive-closes.
var ArchiveCloses = &conformance.Check{
	ID: "session.archive-closes", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"session_end"},
	Mend:     "After the runtime has confirmed the archive, emit session_end, close its stdin and wait until it exits.",
	Sentence: "An archived session ends: session_end is its last event, and the runtime's process exits.",
	Judge:    judgeArchive,
}

// judgeArchive demands that session_end is the last event between the archive of a
// session and the next open. If a recording is replayed, the subject must have closed
// the runtime's stdin or sent it a signal.
func judgeArchive(t *conformance.Trial, f *conformance.Finding) {
	process := 0
	for i, a := range t.Steps {
		if a.Step.Verb == fixtures.VerbOpen {
			process++
		}
		if a.Step.Verb != fixtures.VerbArchive || a.Err != nil {
			continue
		}
		f.Asserted(1)
		ended := false
		for _, e := range t.Events {
			if e.Steps != i+1 {
				continue
			}
			if ended {
				f.At(e, "%s follows the end of an archived session", e.Type())
			}
			ended = ended || e.Type() == event.TypeSessionEnd
		}
		if !ended {
			f.Failf("the session was archived, but there is no session_end")
		}
		letGo := slices.ContainsFunc(t.ClientActions, func(w standin.ClientAction) bool {
			return w.Process == process && (w.Kind == standin.KindClose || w.Kind == standin.KindSignal)
		})
		if t.Tier != conformance.TierLive && !letGo {
			f.Failf("the session was archived, but its runtime still runs")
		}
	}
}
