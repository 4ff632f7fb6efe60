// Package replay holds the checks of the back end's package replay: they reduce the events
// of a run to a chat. It is not part of the stable interface. They are of the golden tier,
// because a defect of our reducer must not fail another adapter.
package replay

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		ToolLinked,
		Components,
		EqualsLive,
		Interrupted,
		AnyPrefix,
		Faithful,
		SameMillisecond,
		ParagraphBreak,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		reusesItsBuffer,
		stopLooksFinished,
		beginsWithABreak,
		cutsOutput,
		ownToolIDs,
	}
}
