package dialect

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Open is the check dialect.open.
var Open = &conformance.Check{
	ID: "dialect.open", Source: "cards that spin for ever after a stop", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Keep a list of what is open, and end all of it before the last message, after a stop and after an error too.",
	Sentence:      "When a stream ends, its parts, tools and sub-agents have ended, and it has its last message.",
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("dialect.open"),
}
