package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Compaction is the check turn.compaction.
var Compaction = &conformance.Check{
	ID: "turn.compaction", Source: "the event contract (adapters/event): compaction", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"compaction", "compaction.phase", "compaction.tokens"},
	Needs:    []string{"compaction"},
	Mend:     "Emit compaction with phase start when the runtime reports that it compacts, and one with phase end when it reports the result. Do not infer it from the number of tokens.",
	Sentence: "Each compaction that the runtime states ends once, with the size of the context that it states, and begins before. No other compaction is reported.",
	Judge:    judgeCompaction,
}

func judgeCompaction(t *conformance.Trial, f *conformance.Finding) {
	statements := runindex.StatementsOf(t.Run)
	var ends []wire.Statement
	starts := 0
	open := false
	for _, s := range statements {
		switch {
		case s.Compaction == wire.CompactionStarts:
			starts, open = starts+1, true
		case s.Compaction == wire.CompactionEnds && (open || len(ends) < 1 || !sameCompaction(ends[len(ends)-1], s)):
			ends, open = append(ends, s), false
		}
	}
	f.Asserted(len(ends))
	began, ended := 0, 0
	for e, d := range runindex.EventsOf[event.Compaction](t.Run) {
		if e.SubagentID != "" {
			continue
		}
		f.Asserted(1)
		_, stated := statements.Last(e.Line, func(s wire.Statement) bool { return s.Compaction != "" })
		switch {
		case !stated:
			f.At(e, "a compaction is reported (%s), but the runtime has stated none", d.Phase)
		case d.Phase == event.PhaseStart:
			began++
		case ended < len(ends) && d.Tokens != ends[ended].TokensAfter && (d.Tokens != 0 || t.Supports("compaction.tokens")):
			f.At(e, "the runtime states that %d tokens remain after the compaction, but the event has %d", ends[ended].TokensAfter, d.Tokens)
			ended++
		default:
			ended++
		}
	}
	if began != starts {
		f.Failf("the runtime states the start of %d compactions, but the events have %d", starts, began)
	}
	if ended != len(ends) {
		f.Failf("the runtime states the end of %d compactions, but the events have %d", len(ends), ended)
	}
}

// sameCompaction reports whether two statements are of one compaction: some versions
// state its end twice, in two forms, without a size.
func sameCompaction(a, b wire.Statement) bool { return a.TokensAfter == 0 && b.TokensAfter == 0 }
