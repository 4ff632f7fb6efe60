// Package tool holds the checks of tool calls and the tools of the client. It is not part
// of the stable interface.
package tool

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Streamed,
		Fields,
		FileRead,
		Interrupted,
		Canonical,
		FileChange,
		ClientOffered,
		ClientCalled,
		ClientAnswered,
		ClientCancelled,
		ServerCalled,
		Parallel,
		Known,
		Paired,
		Output,
		WholeResult,
		Plan,
		WebSearch,
		ReadDescribed,
		Truncated,
		Media,
		InputStreamed,
		InputWhole,
		Progress,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		keepsNativeNames,
		cutsNames,
		answersWithNothing,
		hookWithoutAReply,
		servesNoCall,
		callsWithNothing,
		letsACallRunOn,
		offersWithoutAWord,
		hidesThePath,
		namesNoMessage,
		forgetsTheFileRead,
		losesTheChange,
		readsNothing,
		spinsForEver,
		forgetsTheInput,
		dropsFormatCharacters,
		inventsATool,
		errorsThatAreNone,
		summarizesOutput,
		pairsByOrder,
		streamsSnapshots,
		showsOutputAtTheEnd,
		searchesForNothing,
		keepsTheFirstLine,
		ticksNothingOff,
		changesAnotherFile,
		addsEachFile,
		dropsTheHunkHeaders,
		showsAnotherCommand,
		readsEverything,
		readsTheFolder,
		callsAPageASearch,
		showsAPartAsTheWhole,
		countsTheDigits, forgetsThePictures,
		keepsPiecesBack,
		piecesForEverybody,
		namesNoInput,
		joinsTheInputs,
		dropsProgress,
		progressAfterTheResult,
		progressOfAnotherTool,
		measuresByItself,
		keepsTheFirstInput,
		startsNoServer,
		startsWithoutVariables,
		connectsWithoutHeaders,
		hidesAFailedServer,
		takesFailuresForAnswers,
	}
}
