package wire

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
)

// SameChunk is the check wire.same-chunk.
var SameChunk = &conformance.Check{
	ID: "wire.same-chunk", Source: "devspace#362", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:       "Process all lines of a read before the end of the file is handled, and process a reply and what follows it in order.",
	Sentence:   "If a response, the notifications behind it and the end of the file are read at once, nothing is lost.",
	Faults:     []string{"burst"},
	JudgeFault: faulted.JudgeHarmless,
}
