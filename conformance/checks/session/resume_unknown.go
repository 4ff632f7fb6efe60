package session

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// ResumeUnknown is the check session.resume-unknown.
var ResumeUnknown = &conformance.Check{
	ID: "session.resume-unknown", Source: "clients that start a new session if the old one does not exist", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:         []string{"open.refused"},
	Mend:          "Read the runtime's error when the id is unknown and return it from Open with its code. Do not retry without the id.",
	Sentence:      "Resuming or forking an id that the runtime does not know returns a typed error with the runtime's message. It never hangs and never opens a new session instead.",
	JudgesWritten: true,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		JudgeRefusedOpens(t, f, "", func(a fixtures.Step) bool { return a.What != "" })
	},
}
