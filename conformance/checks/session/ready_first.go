package session

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// ReadyFirst is the check session.ready-first.
var ReadyFirst = &conformance.Check{
	ID: "session.ready-first", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"session_end", "session_ready"},
	Aliases:  []string{"session.ready-once-per-open"},
	Needs:    []string{"session_ready"},
	Mend:     "Hold back all other events until session_ready has been emitted.",
	Sentence: "The first event of a session is session_ready.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		opened := 0
		for _, o := range t.Opens {
			if o.Err == nil {
				opened++
			}
		}
		ready := 0
		begin := true // the next event is the first of its process
		for _, e := range t.Events {
			_, is := e.Data.(event.SessionReady)
			switch {
			case begin && !is:
				f.At(e, "the first event is %s", e.Type())
			case is:
				ready++
			}
			_, begin = e.Data.(event.SessionEnd)
		}
		f.Asserted(opened)
		if ready != opened {
			f.Failf("%d sessions were opened, but session_ready was emitted %d times", opened, ready)
		}
	},
}
