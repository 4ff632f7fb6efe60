package turn

import "github.com/turnspec/turnspec/conformance"

// LongEnd is the check turn.long-end.
var LongEnd = &conformance.Check{
	ID: "turn.long-end", Source: "adapters.Limits.Line: a client that skips the line which ends a long turn waits for that end for ever", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"turn"},
	Mend:       "If a line is too long to be read, look at its beginning: where that is the end of the turn, end the turn with an error.",
	Sentence:   "A turn also ends if the line that ends it, and repeats its text, has 65 MiB, and the next message begins another turn.",
	Faults:     []string{"endless-end"},
	JudgeFault: func(plain, r *conformance.Run, f *conformance.Finding) { judgeLost(plain, r, f, true) },
}
