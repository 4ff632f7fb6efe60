package dialect

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Form is the check dialect.form.
var Form = &conformance.Check{
	ID: "dialect.form", Source: "front ends that drop a chunk, or throw on it", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Write each message with the types of the vocabulary's own package, and build the final text from the pieces that were sent.",
	Sentence:      "Each message of the stream is JSON with the members that its type needs, and texts that are sent again are those that were sent.",
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("dialect.form"),
}
