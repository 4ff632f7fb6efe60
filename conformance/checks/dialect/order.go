package dialect

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Order is the check dialect.order.
var Order = &conformance.Check{
	ID: "dialect.order", Source: "front ends that throw on a delta before the start", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Send the start of the stream, of the step and of the part first, and end a part before another one begins.",
	Sentence:      "Messages come in the order that the vocabulary demands: a stream, a step or a part begins before what belongs to it.",
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         runindex.JudgeProbe("dialect.order"),
}
