package order

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Schema is the check order.schema.
var Schema = &conformance.Check{
	ID: "order.schema", Source: "the schema of events (adapters/event/schema.json)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:     "Set each member that the schema requires, and take values of closed lists, such as the code of an error, from the list.",
	Sentence: "Each event fits the schema: what is required is there, and each value of a closed list is on the list.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		for _, e := range t.Events {
			switch e.Data.(type) {
			case event.Delta, event.Thinking, event.ToolInput, event.ToolOutput:
				continue // any values of their members fit
			}
			f.Asserted(1)
			text, err := e.AppendJSON(nil)
			if err == nil {
				_, err = event.Decode(text)
			}
			if err != nil {
				f.At(e, "%v", err)
			}
		}
	},
}
