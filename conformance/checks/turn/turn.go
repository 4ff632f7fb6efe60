// Package turn holds the checks of how turns begin, run and end. It is not part of the
// stable interface.
package turn

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		NotBeforeEnd,
		ErrorIsError,
		RetryIsNotError,
		ActivityFirst,
		Steer,
		Files,
		ChildEndIsNotParentEnd,
		Queued,
		Unprompted,
		StopIdempotent,
		AfterStop,
		BeginsOnce,
		OneTerminal,
		NothingAfterTerminal,
		Stop,
		CrashEnds,
		StallEnds,
		StopIgnored,
		RetriesEnd,
		LostEnd,
		LongEnd,
		SlowContinues,
		Refused,
		ErrorWords,
		EndStated,
		UserMessages,
		ProviderID,
		Compaction,
		Notices,
		Queue,
		WithinBudget,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		beginsTwice,
		beginsInSilence,
		looksDead,
		allTextIsTheFirstTurns,
		staysStopped,
		endsWithTheChild,
		crashWithoutItsCode,
		finishesAtACrash,
		hidesACrash,
		leavesTextOpenAtACrash,
		takesTextBackAtACrash,
		tellsACrashLate,
		failsWell,
		textAlone,
		losesTheFolder,
		pastesTheURL,
		forgetsTheNames,
		takesALostEndForAGoodOne,
		waitsForASkippedEnd,
		endsWithTheWords,
		usageAfterTheEnd,
		endsTwice,
		losesTheEnd,
		losesWhatWaited,
		listsOnlyTheFirst,
		givesUpAtARetry,
		takesThoughtForDeath,
		waitsForEver,
		stoppedToolsFail,
		stopsSlowly,
		killsInsteadOfStopping,
		stopsOnce,
		stopsWithoutALimit,
		givesUpATool,
		beginsByItself,
		endsAtAnyEnd,
		hidesTheReason,
		blamesTheNetwork,
		countsInSeconds,
		endsWithoutWords,
		timesNothing,
		namesNoClose,
		speaksForTheUser,
		losesTheAttachments,
		showsAnotherFile,
		numbersItsTurns,
		compactsForEver,
		forgetsTheSize,
		retriesInSilence,
		hidesTheQueue,
		neverStops,
		repeatsMegabytes,
	}
}
