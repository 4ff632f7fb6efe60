package wire

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
)

// LongLine is the check wire.long-line.
var LongLine = &conformance.Check{
	ID: "wire.long-line", Source: "openclaw#71793: big frames kill the turn", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:       "Use a reader without a limit for the line, or with one far above 8 MiB. A scanner with a fixed buffer is not enough.",
	Sentence:   "Lines of 64 KiB, 1 MiB and 8 MiB arrive whole. A line without an end gives one notice, and the session continues.",
	Faults:     []string{"long-line", "huge-line", "endless-line"},
	JudgeFault: faulted.JudgeHarmless,
}
