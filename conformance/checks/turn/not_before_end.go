package turn

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// NotBeforeEnd is the check turn.not-before-end.
var NotBeforeEnd = &conformance.Check{
	ID: "turn.not-before-end", Source: "multica#7554: a turn that ends early", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"done"},
	Mend:     "End a turn only at the runtime's own end: `result` of Claude Code, `turn/completed` of Codex. The end of a message or a text block is not the end of the turn.",
	Sentence: "The terminal event does not come before the runtime's own end of that turn.",
	Judge:    judgeNotBeforeEnd,
}

// judgeNotBeforeEnd demands that the wire has ended as many turns as the events
// have, unless the process or the session has ended.
func judgeNotBeforeEnd(t *conformance.Trial, f *conformance.Finding) {
	ends, lines := 0, 0
	wire := runindex.Of(t.Run).Lines()
	statements := runindex.StatementsOf(t.Run)
	inClient := runindex.Runtime(t.Run).ClientRunsTurns // only a reply without calls ends a turn
	gone := false
	for _, e := range t.Events {
		for ; lines < min(e.Line, len(t.Played)); lines++ {
			p, l := t.Played[lines], &wire[lines]
			if l.EndsTurn() && l.Main || inClient && statements[lines].End != "" {
				ends++
			}
			gone = gone || p.Line.Dir == fixtures.Exit || p.Line.Dir == fixtures.EOF
		}
		if !e.Terminal() || e.Turn == 0 || e.SubagentID != "" || gone || e.Type() == event.TypeError {
			continue
		}
		if e.Steps > 0 && slices.Contains([]fixtures.Verb{fixtures.VerbClose, fixtures.VerbStop, fixtures.VerbArchive}, t.Steps[e.Steps-1].Step.Verb) {
			continue // the subject may end it by itself
		}
		f.Asserted(1)
		if ends == 0 {
			f.At(e, "turn %d ends in %s, but the runtime has not ended it", e.Turn, runindex.Describe(e.Data))
			return
		}
		ends--
	}
}
