package server

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// NoContent is the check server.no-content.
var NoContent = &conformance.Check{
	ID: "server.no-content", Source: "chats that stay still because a browser was answered with 204 before the next turn", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Answer GET events with 204 only when the session has ended and the listener has all of its events. If nothing is new, open the stream and wait.",
	Sentence:      "A listener of a session that has not ended is not answered with 204, also if it has all events and no turn runs.",
	NeedsFor:      needsAbility("cursor"),
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("server.no-content"),
}
