package time

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// holding returns a mutation that delays the events for which hold returns true until
// the next event.
func holding(hold func(e event.Event) bool) broken.Mutation {
	return broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var kept []event.Event
		return func(e event.Event, out func(event.Event)) {
			for _, k := range kept {
				out(k)
			}
			kept = nil
			if hold(e) {
				kept = append(kept, e)
				return
			}
			out(e)
		}
	}}
}
