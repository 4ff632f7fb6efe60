package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Closed is the check thinking.closed.
var Closed = &conformance.Check{
	ID: "thinking.closed", Source: "thinking bubbles whose spinner never ends", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"thinking.done"},
	Needs:    []string{"thinking.done"},
	Mend:     "Before text, a tool call or the end of a turn, emit thinking with done for a block that is open.",
	Sentence: "Thinking is closed (done:true) before text, a tool call or the end of the turn follows.",
	Judge:    judgeThinkingClosed,
}

func judgeThinkingClosed(t *conformance.Trial, f *conformance.Finding) {
	open := map[string]string{} // agent → block
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.Thinking:
			switch {
			case d.Done:
				delete(open, e.SubagentID)
			case d.Text != "":
				f.Asserted(1)
				open[e.SubagentID] = d.BlockID + " "
			}
			continue
		case event.BlockEnd:
			if open[e.SubagentID] == d.BlockID+" " {
				delete(open, e.SubagentID)
			}
			continue
		case event.Delta, event.ToolStart, event.Done, event.Error:
		default:
			continue
		}
		if id, is := open[e.SubagentID]; is {
			f.At(e, "%s is emitted while thinking %sis open", e.Type(), id)
			delete(open, e.SubagentID)
		}
	}
}
