package server

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Guard is the check server.guard.
var Guard = &conformance.Check{
	ID: "server.guard", Source: "local servers that any page in a browser can use", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Compare Host and Origin with those that you serve, the token in constant time, and limit the body with what your framework offers.",
	Sentence:      "Requests with a foreign Host or Origin, a wrong token, or a body that is too large are refused.",
	NeedsFor:      needsAbility("guard"),
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("server.guard"),
}
