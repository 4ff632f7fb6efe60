// Package race holds the checks of calls that meet a line of the runtime, or each other. It is
// not part of the stable interface.
//
// The recording fixes at which point its client made a call; a raced fault moves the call.
package race

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Stop,
		Close,
		Send,
		Answer,
		Set,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		stopsOnlyWhatItShows,
		deadlocksInClose,
		dropsWhileStopping,
		answersBothAtOnce,
		setsNothingInATurn,
	}
}
