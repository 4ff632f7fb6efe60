package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// ChildEndIsNotParentEnd is the check turn.child-end-is-not-parent-end.
var ChildEndIsNotParentEnd = &conformance.Check{
	ID: "turn.child-end-is-not-parent-end", Source: "cc-connect#1816", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Needs:    []string{"subagent_id"},
	Mend:     "Compare the thread or parent id of an end with that of the turn. The end of another thread ends only its sub-agent.",
	Sentence: "The end of a sub-agent does not end the turn of its parent.",
	Judge:    judgeChildEnds,
}

// subagentEnds reports whether a line reports that the work of a sub-agent has
// ended.
func subagentEnds(rt *wire.Runtime, l *runindex.Line) bool {
	return l.Kind == wire.TaskEnd || rt.Threads && l.Kind == wire.TurnEnd && !l.Main
}

func judgeChildEnds(t *conformance.Trial, f *conformance.Finding) {
	if len(runindex.Subagents(t.Run)) == 0 {
		return
	}
	rt := runindex.Runtime(t.Run)
	ownEnd := 0 // the last line that ended a turn
	for i, l := range runindex.Of(t.Run).Lines() {
		if l.Kind == wire.TurnEnd && l.Main {
			ownEnd = i + 1
		}
		if !subagentEnds(rt, &l) {
			continue
		}
		running, began := 0, 0
		for _, e := range t.Events {
			switch {
			case e.Line > i+1 || e.SubagentID != "":
			case e.Type() == event.TypeTurnStart:
				running, began = e.Turn, e.Line
			case e.Terminal() && e.Line <= i && e.Turn == running:
				running = 0
			case e.Terminal() && e.Turn == running && ownEnd > began: // the subject is late
			case e.Terminal() && e.Turn == running:
				f.At(e, "turn %d ends in %s at the line that ends a sub-agent", e.Turn, runindex.Describe(e.Data))
			}
		}
		if running != 0 {
			f.Asserted(1)
		}
	}
}
