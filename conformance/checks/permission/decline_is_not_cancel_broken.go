package permission

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var declinesByStopping = broken.Adapter{
	Name: "declines-by-stopping", Sentence: "stops the turn when the user declines a tool",
	Proves: "permission.decline-is-not-cancel",
	Mutation: broken.Mutation{Answer: func(a *adapters.Answer) {
		if a.Decision == event.DecisionDeny {
			a.Decision = event.DecisionCancel
		}
	}},
}
