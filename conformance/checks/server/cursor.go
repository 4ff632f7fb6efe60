package server

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Cursor is the check server.cursor.
var Cursor = &conformance.Check{
	ID: "server.cursor", Source: "pages that stay empty after a server lost its events", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Compare Last-Event-ID with the last event of the session, and answer a cursor above it with an error, 409 or 400.",
	Sentence:      "A listener that names an event that the session does not have is refused; its stream is neither empty nor begun again.",
	NeedsFor:      needsAbility("cursor"),
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("server.cursor"),
}
