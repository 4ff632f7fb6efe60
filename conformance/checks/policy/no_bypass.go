package policy

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// NoBypass is the check policy.no-bypass.
var NoBypass = &conformance.Check{
	ID: "policy.no-bypass", Source: "deny patterns that are anchored at the start of a command", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Sentence:      "A denied command does not get through behind an allowed one: chained, substituted, in a nested shell, redirected.",
	JudgesWritten: true,
	Judge:         func(t *conformance.Trial, f *conformance.Finding) { judgePolicy(t, f, fixtures.DenyBypass) },
}
