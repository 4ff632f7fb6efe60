// Package session holds the checks of opening, resuming, closing and ending sessions. It
// is not part of the stable interface.
package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		CallResults,
		EndedRejectsCalls,
		ContextCancelled,
		CloseWaitsForTools,
		CloseWithoutReader,
		IdleStaysOpen,
		Capabilities,
		ResumeContext,
		History,
		ResumeNoReplay,
		ResumeUnknown,
		ForkIndependent,
		ArchiveCloses,
		ConcurrentThreads,
		OpenOptions,
		ReadyFirst,
		ProviderID,
		Returns,
		Described,
		EndReason,
		Checkpoints,
		Transcript,
		Lists,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		silentArchive,
		answersAndFails,
		declaresNothing,
		declaresTooMuch,
		listsNoModels,
		abandonsItsTools,
		waitsToBeHeard,
		adoptsStrangers,
		waitsForEveryReply,
		takesWhatComesLate,
		forgetsTheReplies,
		forgetsWhatItForked,
		forksByResuming,
		endsWhatIsIdle,
		leavesAStopLimit,
		forgetsTheInstructions,
		addsTheInstructions,
		forgetsTheEffort,
		forgetsTheLimits,
		forgetsTheFolders,
		readsAllSettings,
		forgetsTheSchema,
		forgetsTheServers,
		resumesWithoutTheServers,
		keepsNoCopies,
		mistakesTheTransport,
		forgetsTheHeaders,
		hooksSomethingElse,
		opensElsewhere,
		opensInAnyMode,
		opensWithAnyModel,
		ownIDForTheRuntimes,
		talksAfterTheSession,
		talksBeforeReady,
		resumesFresh,
		replaysAtAResume,
		losesTheReason,
		untypedRefusal,
		neverReturnsFromSend,
		panicsInClose,
		forgetsTheSource,
		namesNoModel,
		describesNothing,
		countsExitCodes,
		endsWithoutACode,
		endsInSilence,
		endsWithoutAReason,
		crashesAtEachClose,
		restoresInSilence,
		readsNoResults,
		readsMessagesTwice,
		readsNoAnswers,
		readsDenials,
		listsByTitle,
		listsTheFirstPage,
		listsTwice,
		listsAllAsConnected,
	}
}
