// Package order holds the checks of the envelope and the form of events. It is not part of the stable interface.
package order

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Schema,
		Seq,
		TS,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		countsPerTurn,
		inventsACode,
		runsItsClockBack,
	}
}
