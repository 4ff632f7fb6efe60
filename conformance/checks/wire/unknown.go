package wire

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
)

// Unknown is the check wire.unknown.
var Unknown = &conformance.Check{
	ID: "wire.unknown", Source: "claude-agent-sdk-python#599", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:       "Give every switch over types, subtypes and values a default case that emits a notice with the raw line and continues. Do not decode strictly.",
	Sentence:   "An unknown type, subtype, field, enum value or method at any place does not end the turn, and a notice reports it.",
	Faults:     []string{"unknown-message", "unknown-field", "unknown-value"},
	JudgeFault: faulted.JudgeHarmless,
}
