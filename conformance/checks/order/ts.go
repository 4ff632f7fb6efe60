package order

import (
	"time"

	"github.com/turnspec/turnspec/conformance"
)

// TS is the check order.ts.
var TS = &conformance.Check{
	ID: "order.ts", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"ts"},
	Mend:     "Use one clock for all events of a session, and never an earlier ts than that of the event before.",
	Sentence: "ts never runs backwards, so that seq alone breaks ties.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		last := map[string]time.Time{}
		for _, e := range t.Events {
			f.Asserted(1)
			if e.TS.Before(last[e.SessionID]) {
				f.At(e, "ts is %s, that of the event before %s", e.TS.Format(time.RFC3339Nano), last[e.SessionID].Format(time.RFC3339Nano))
				return
			}
			last[e.SessionID] = e.TS
		}
	},
}
