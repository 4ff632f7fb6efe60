package dialect

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Once is the check dialect.once.
var Once = &conformance.Check{
	ID: "dialect.once", Source: "messages that are shown twice after a retry", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Keep a state for each id: not begun, open, ended; and send no message that the state does not allow.",
	Sentence:      "Nothing begins or ends twice, and nothing follows an end.",
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("dialect.once"),
}
