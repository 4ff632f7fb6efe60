package policy

import (
	"github.com/turnspec/turnspec/conformance"
)

// Table is the check policy.table.
var Table = &conformance.Check{
	ID: "policy.table", Source: "sidecars whose tool policy lives in a callback", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Mend:          "Apply the policy where the runtime asks, and make the runtime ask about every call that the policy may deny: by its mode, or by a hook. Send the reason of a denial with it.",
	Sentence:      "The runtime receives the decision of the policy about each tool call: a denied call has no effect and the model receives the denial, with the reason of the policy if the wire has a place for it, an allowed call runs.",
	JudgesWritten: true,
	Judge:         func(t *conformance.Trial, f *conformance.Finding) { judgePolicy(t, f, "") },
}
