package thinking

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Delivered is the check thinking.delivered.
var Delivered = &conformance.Check{
	ID: "thinking.delivered", Source: "adapters that listened to reasoning/textDelta, which the wire calls item/reasoning/textDelta", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"thinking.block_id", "thinking.text"},
	Aliases:  []string{"wire.both-prefixes"},
	Needs:    []string{"thinking"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Emit the deltas of the runtime's visible reasoning, and not the complete reasoning once more at its end.",
	Sentence: "The model's visible reasoning is delivered, once, in order.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		var want, got strings.Builder
		reqs := runindex.Requests(t.Run)
		for i, q := range reqs {
			for j, s := range q.Output {
				if s.Think != "" && (!runindex.Abandoned(reqs, i) || !runindex.CutShort(q, j)) {
					f.Asserted(1)
					want.WriteString(s.Think)
				}
			}
		}
		back := map[string]bool{}
		for _, d := range runindex.EventsOf[event.BlockEnd](t.Run) {
			if d.Status == event.BlockRetracted {
				back[d.BlockID] = true
			}
		}
		for e, d := range runindex.EventsOf[event.Thinking](t.Run) {
			if e.SubagentID == "" && !back[d.BlockID] {
				got.WriteString(d.Text)
			}
		}
		said, shown := want.String(), got.String()
		if runindex.RecordedShows(t.Run, func(l *wire.Line) bool { return l.Piece.Spaced }) {
			said, shown = strings.ReplaceAll(said, "\n", ""), strings.ReplaceAll(shown, "\n", "")
		}
		if f.Assertions > 0 && shown != said {
			f.Diff("the reasoning is not what the model said", said+"\n", shown+"\n")
		}
	},
}
