// Package usage holds the checks of token usage. It is not part of the stable interface.
package usage

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Reported,
		Stated,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		countsNoInput,
		roundsTheCost,
		guessesTheWindow,
		countsNothing,
		leavesOutTheCost,
		leavesOutTheContext,
		namesAnotherScope,
		countsNoTotal,
		countsWithoutAScope,
	}
}
