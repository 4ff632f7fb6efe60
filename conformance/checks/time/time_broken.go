package time

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// holding makes a mutation that keeps the events which hold picks until the
// next one comes.
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
