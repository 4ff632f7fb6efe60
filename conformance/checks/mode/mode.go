// Package mode holds the checks of changes of model and mode. It is not part of the
// stable interface.
package mode

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
		changesInSilence,
		changesTwice,
		keepsTheFirstModel,
		keepsTheMode,
		changesToDefault,
		takesARefusalForAChange,
	}
}
