package server

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Media is the check server.media.
var Media = &conformance.Check{
	ID: "server.media", Source: "chats that name an image and cannot show it, and servers that run what a tool gave", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend: "Store the bytes under the session and their sha256 before you send the event. Answer GET sessions/:id/media/:sha256 with them, with the type of the event and " +
		"X-Content-Type-Options: nosniff, and with 404 if this session has no such hash.",
	Sentence:      "Each medium of a tool_result is served under its session and hash, with its bytes, its type and nosniff, and under no other session or hash.",
	NeedsFor:      needsAbility("media"),
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("server.media"),
}
