// Package thinking holds the checks of reasoning. It is not part of the stable interface.
package thinking

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Closed,
		Hidden,
		Delivered,
		Blocks,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		thinksForEver,
		noThinking,
		thinksTwice,
		thinksBlank,
		endsWithoutItsBlock,
	}
}
