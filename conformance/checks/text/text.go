// Package text holds the checks of the text that the model writes. It is not part of the
// stable interface.
package text

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Once,
		Order,
		Retracted,
		BlockBoundary,
		Result,
		Unicode,
		NotThinking,
		MessageID,
		BlockEnd,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		oneBlockForAll,
		oneBlockForEachDelta,
		saysThoughts,
		showsTheResultToo,
		swapsDeltas,
		sumsUp,
		keepsAbandonedText,
		breaksCharacters,
		decodesInParts,
		numbersItsMessages,
		leavesBlocksOpen,
		interruptsEachBlock,
	}
}
