// Package question holds the checks of questions to the user. It is not part of the
// stable interface.
package question

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Answered,
		PlanApproval,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		forgetsTheAnswer,
		asksWithoutChoices,
		resolvesWithoutTheAnswer,
		asksWithoutThePlan,
	}
}
