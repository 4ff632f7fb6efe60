// Package component holds the checks of the components that an agent shows. It is not
// part of the stable interface.
package component

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		ToolLinked,
		Update,
		Remove,
		State,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		neverRemoves,
		cutsAnObject,
		replacesWhereItMerges,
		showsTheParentsOnly,
		mergesAlways,
		keepsWhatIsNull,
	}
}
