package wire

import (
	"github.com/turnspec/turnspec/conformance"
)

// ValidInput is the check wire.valid-input.
var ValidInput = &conformance.Check{
	ID: "wire.valid-input", Source: "the wires of the runtimes and their published schemas", Tiers: []conformance.Tier{conformance.TierWitness},
	Aliases:       []string{"wire.own-lines"},
	Mend:          "Write whole lines under one lock, and nothing before the handshake has ended. Reply with the request's id and in the form that its method wants.",
	Sentence:      "The subject writes valid messages of the runtime's wire: whole, after the handshake, and with replies that match the requests and the user's answers. Messages hold the user's words, and each request names the session, the turn and the task that it is about.",
	JudgesWritten: true,
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(len(t.ClientActions))
		for _, v := range t.Violations {
			f.Failf("%s", v)
		}
	},
}
