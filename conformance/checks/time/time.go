// Package time holds the checks of delays and backpressure, in virtual time. It is not
// part of the stable interface.
package time

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Backlog,
		NoAddedDelay,
		FirstDelta,
		TS,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		dropsWhatWaits,
		queuesWithoutBound,
		reportsNoBacklog,
		holdsTheFirstDelta,
		smooths,
		coalesces,
		delaysThinking,
		delaysTools,
		endsLate,
		countsSeconds,
		stampsWhatWaits,
	}
}
