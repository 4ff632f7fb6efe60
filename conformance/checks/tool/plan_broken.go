package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var ticksNothingOff = broken.Adapter{
	Name: "ticks-nothing-off", Sentence: "shows each step of a plan as pending",
	Proves: "tool.plan",
	Mutation: broken.Each(func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.Plan); ok {
			var steps []event.PlanStep
			for _, s := range d.Steps {
				steps = append(steps, event.PlanStep{Text: s.Text, Status: event.StepPending})
			}
			e.Data = event.Plan{Steps: steps}
		}
		out(e)
	}),
}
