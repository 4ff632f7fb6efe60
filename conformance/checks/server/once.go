package server

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Once is the check server.once.
var Once = &conformance.Check{
	ID: "server.once", Source: "a retry of a POST that runs a turn twice", Tiers: []conformance.Tier{conformance.TierWitness},
	Mend:          "Store the ids of messages, and answer a repeated one with success or 409, without sending it to the runtime.",
	Sentence:      "A message that is sent twice with one message_id runs once.",
	NeedsFor:      needsAbility("once"),
	JudgesWritten: true,
	ServersOnly:   true,
	Judge:         judgeOnce,
}

// judgeOnce also looks at what the runtime was sent: a recording does not answer a
// message that it does not hold, so that no turn begins.
func judgeOnce(t *conformance.Trial, f *conformance.Finding) {
	before := f.Assertions
	runindex.JudgeProbe("server.once")(t, f)
	if f.Assertions == before {
		return
	}
	for _, u := range t.Unrecorded {
		if strings.Contains(u, "send: ") {
			f.Failf("a message was sent again with the same message_id, and the runtime got it twice: %s", u)
		}
	}
}
