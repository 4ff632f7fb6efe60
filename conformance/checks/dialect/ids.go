package dialect

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// IDs is the check dialect.ids.
var IDs = &conformance.Check{
	ID: "dialect.ids", Source: "tool cards that spin because the result has another id", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Keep the id under which something began, and use it in all its messages.",
	Sentence:      "Each delta, end and result has the id of something that was begun and has not ended.",
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("dialect.ids"),
}
