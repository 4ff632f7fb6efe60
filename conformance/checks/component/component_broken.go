package component

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// editing returns a mutation that replaces the data of events; nil drops the event.
func editing(f func(d event.Data) event.Data) broken.Mutation {
	return broken.Each(func(e event.Event, out func(event.Event)) {
		if e.Data = f(e.Data); e.Data != nil {
			out(e)
		}
	})
}
