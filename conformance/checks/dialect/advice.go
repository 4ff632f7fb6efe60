package dialect

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Advice is the check dialect.advice.
var Advice = &conformance.Check{
	ID: "dialect.advice", Severity: conformance.Should, Source: "front ends that accept a stream and show half of it", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Write what the vocabulary recommends: the version that the server speaks, one result for each call after the call, patches that apply.",
	Sentence:      "The stream does what the vocabulary recommends, and nothing that it allows but that its readers show wrongly.",
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("dialect.advice"),
}
