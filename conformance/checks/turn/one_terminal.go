package turn

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// OneTerminal is the check turn.one-terminal.
var OneTerminal = &conformance.Check{
	ID: "turn.one-terminal", Source: "openai/codex#35810, claude-code#25629", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"turn", "done", "error"},
	Needs:    []string{"turn", "done"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Emit done or error in one place, guarded by a flag of the turn. A result, an error and an exit that follow each other are one end.",
	Sentence: "Each turn ends in exactly one terminal event.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		turns := runindex.Of(t.Run).Turns()
		for _, turn := range turns {
			f.Asserted(1)
			if n := len(turn.Ends); n != 1 {
				f.Failf("turn %d has %d terminal events", turn.N, n)
			}
		}
		if len(turns) == 0 && runindex.HasStep(t.Run, fixtures.VerbSend) {
			f.Failf("a message was sent, but no event belongs to a turn")
		}
	},
}
