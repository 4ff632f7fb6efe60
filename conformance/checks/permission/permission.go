// Package permission holds the checks of questions for permission and their answers. It
// is not part of the stable interface.
package permission

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

// Checks returns the checks of this topic.
func Checks() []*conformance.Check {
	return []*conformance.Check{
		Resolved,
		Late,
		DeclineIsNotCancel,
		Asked,
		AnsweredOnce,
		DenyEnforced,
		UnsupportedRequest,
		WaitsForUser,
		StaleRequest,
		Withdrawn,
	}
}

// Broken returns the broken adapters that prove the checks of this topic.
func Broken() []broken.Adapter {
	return []broken.Adapter{
		answersTwice,
		closesBeforeItAnswers,
		asksAboutNothingKnown,
		asksForPlansAsPermissions,
		asksNobody,
		asksWithoutTheTool,
		hidesTheChoices,
		asksWithoutTheCall,
		asksOnNoSurface,
		declinesByStopping,
		allowsEverything,
		setsSomethingElse,
		allowsTooLate,
		allowsAfterAWhile,
		allowsStaleRequests,
		callsLateRequestsRefused,
		blamesARule,
		answersAllWithAllow,
		answersWhatItKnows,
		keepsAsking,
		refusesInSilence,
		deniesWithoutAWord,
	}
}
