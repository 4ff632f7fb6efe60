package wire

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
)

// Garbage is the check wire.garbage.
var Garbage = &conformance.Check{
	ID: "wire.garbage", Source: "runtimes and their wrappers that print warnings on stdout", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:       "If a line cannot be decoded, emit one notice with the line and continue with the next.",
	Sentence:   "A line that is no message gives one notice and is skipped.",
	Faults:     []string{"garbage-line"},
	JudgeFault: faulted.JudgeHarmless,
}
