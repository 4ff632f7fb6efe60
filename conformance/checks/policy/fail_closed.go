package policy

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// FailClosed is the check policy.fail-closed.
var FailClosed = &conformance.Check{
	ID: "policy.fail-closed", Source: "policies that let through what they do not understand", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Sentence:      "The policy denies what it cannot parse or does not know.",
	JudgesWritten: true,
	Judge:         func(t *conformance.Trial, f *conformance.Finding) { judgePolicy(t, f, fixtures.DenyUnknown) },
}
