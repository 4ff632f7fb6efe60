// Package policy holds the checks of tool policies. It is not part of the stable
// interface.
package policy

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Table,
		NoBypass,
		FailClosed,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		allowsWhatItCannotRead,
		allowsTheUnreadable,
		judgesTheFirstWord,
		judgesCommandsAlone,
		keepsTheReason,
	}
}
