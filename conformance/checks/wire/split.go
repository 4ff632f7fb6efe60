package wire

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Split is the check wire.split.
var Split = &conformance.Check{
	ID: "wire.split", Source: "every line reader", Tiers: []conformance.Tier{conformance.TierWitness},
	NeedsFor:   runindex.StreamNeeds,
	Mend:       "Collect bytes up to a newline before a line is decoded. Remove a carriage return, skip empty lines, and read the last line also if it has no newline.",
	Sentence:   "Chunks cut anywhere, joined lines, CRLF and a missing last newline change nothing.",
	Faults:     []string{"split-every-byte", "split-random", "glue-lines", "crlf", "no-final-newline", "blank-lines"},
	JudgeFault: faulted.JudgeHarmless,
}
