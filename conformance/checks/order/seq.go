package order

import (
	"github.com/turnspec/turnspec/conformance"
)

// Seq is the check order.seq.
var Seq = &conformance.Check{
	ID: "order.seq", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"seq"},
	Needs:    []string{"seq"},
	Mend:     "Assign seq where events are emitted, under the same lock. Continue after the last seq of the earlier session when a session is resumed.",
	Sentence: "seq counts 1, 2, 3 … within a session, also across resume.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(len(t.Events))
		last := map[string]int64{}
		for _, e := range t.Events {
			if last[e.SessionID]++; e.Seq != last[e.SessionID] {
				f.At(e, "event %d of session %s has seq %d", last[e.SessionID], e.SessionID, e.Seq)
				return
			}
		}
	},
}
