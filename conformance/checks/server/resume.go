package server

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Resume is the check server.resume.
var Resume = &conformance.Check{
	ID: "server.resume", Source: "chats that lose or repeat tokens after a reconnect", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Send the seq of each event as its id, store events, and continue after Last-Event-ID from the store. Do not begin with the newest event.",
	Sentence:      "A listener that is cut at any event and returns with its id receives every later event once, in order, and the same ones as a listener that stayed.",
	NeedsFor:      needsAbility("cursor"),
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("server.resume"),
}
