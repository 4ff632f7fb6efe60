package thinking

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Blocks is the check thinking.blocks.
var Blocks = &conformance.Check{
	ID: "thinking.blocks", Source: "the event contract (adapters/event): thinking.block_id", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"thinking.done", "thinking.block_id"},
	Needs:    []string{"thinking.done", "thinking.block_id"},
	Mend:     "Keep one open reasoning block per message. Emit done once, and give later reasoning a new block_id.",
	Sentence: "A block of reasoning holds no text of the answer; done closes the block that is open, once, and no reasoning follows in it.",
	Judge:    judgeBlocks,
}

func judgeBlocks(t *conformance.Trial, f *conformance.Finding) {
	type block struct{ session, agent, id string }
	open, ended, texts := map[[2]string]string{}, map[block]bool{}, map[block]bool{}
	for _, e := range t.Events {
		agent := [2]string{e.SessionID, e.SubagentID}
		switch d := e.Data.(type) {
		case event.Delta:
			texts[block{e.SessionID, e.SubagentID, d.BlockID}] = true
		case event.Thinking:
			if d.BlockID == "" {
				continue // it is optional
			}
			k := block{e.SessionID, e.SubagentID, d.BlockID}
			f.Asserted(1)
			switch {
			case d.Text != "" && ended[k]:
				f.At(e, "the block %s of reasoning has ended, and more reasoning follows in it", d.BlockID)
			case d.Text != "" && texts[k]:
				f.At(e, "the block %s holds text and reasoning", d.BlockID)
			case d.Done && open[agent] == "":
				f.At(e, "done closes the block %q, but no reasoning is open", d.BlockID)
			case d.Done && d.BlockID != open[agent]:
				f.At(e, "done closes the block %q, but %q is open", d.BlockID, open[agent])
			}
			if d.Text != "" {
				open[agent] = d.BlockID
			}
			if d.Done {
				ended[k] = true
				delete(open, agent)
			}
		}
	}
}
