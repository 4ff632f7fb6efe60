// Package wire holds the checks of reading and writing the wire. It is not part of the
// stable interface.
package wire

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		NoOwnEcho,
		Unknown,
		Split,
		SameChunk,
		LongLine,
		Garbage,
		Stderr,
		ValidInput,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		diesOfGarbage,
		readsShortLines,
		hearsItsOwnEcho,
		forgetsTheRestAtTheExit,
		readsChunks,
		leavesStderrUnread,
		diesOfTheUnknown,
		knowsEveryField,
		noticesWithoutTheMessage,
		logsToTheRuntime,
		cutsTheMessage,
		interruptsAnotherTurn,
		namesNoClient,
		misspellsATag,
		misspellsAFormat,
	}
}
