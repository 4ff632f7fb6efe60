package server

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Heartbeat is the check server.heartbeat.
var Heartbeat = &conformance.Check{
	ID: "server.heartbeat", Source: "proxies that cut a connection on which nothing is sent for a minute", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Write a comment, such as `: heartbeat`, to each stream every 15 s, or every params.heartbeat_ms of its session if that is given, and flush it.",
	Sentence:      "A stream in which nothing happens has a comment as often as the client asked for.",
	NeedsFor:      needsAbility("heartbeat"),
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("server.heartbeat"),
}
