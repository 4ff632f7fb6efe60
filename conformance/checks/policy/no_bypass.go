package policy

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// NoBypass is the check policy.no-bypass.
var NoBypass = &conformance.Check{
	ID: "policy.no-bypass", Source: "deny patterns that are anchored at the start of a command", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Parse the command line and judge each simple command, substitution and redirection in it. A match at its start is not enough.",
	Sentence:      "A denied command does not get through behind an allowed one: chained, substituted, in a nested shell, redirected.",
	JudgesWritten: true,
	Judge:         func(t *conformance.Trial, f *conformance.Finding) { judgePolicy(t, f, fixtures.DenyBypass) },
}
