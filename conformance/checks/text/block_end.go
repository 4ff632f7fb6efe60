package text

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// BlockEnd is the check text.block-end.
var BlockEnd = &conformance.Check{
	ID: "text.block-end", Source: "the event contract (adapters/event): block_end", Tiers: []conformance.Tier{conformance.TierWitness},
	Judges:   []string{"block_end", "block_end.block_id", "block_end.status"},
	Needs:    []string{"delta", "block_end", "turn"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Emit block_end when the runtime ends the block, with the final text if it differs from the deltas. At the end of a turn end the blocks that are still open as interrupted.",
	Sentence: "Each block of text ends once, and nothing follows in it: complete if the model finished it, replaced by the final text if that differs, interrupted or retracted if it was cut short.",
	Judge:    judgeBlockEnds,
}

func judgeBlockEnds(t *conformance.Trial, f *conformance.Finding) {
	type block struct{ session, agent, id string }
	text, ended, thinking := map[block]string{}, map[block]bool{}, map[block]bool{}
	finished := map[string]bool{} // texts that the model finished
	for _, q := range t.Witness {
		for j, s := range q.Output {
			if s.Text != "" && !runindex.CutShort(q, j) {
				finished[strings.TrimSpace(s.Text)] = true
			}
		}
	}
	var order []block
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.Thinking:
			thinking[block{e.SessionID, e.SubagentID, d.BlockID}] = true
		case event.Delta:
			k := block{e.SessionID, e.SubagentID, d.BlockID}
			if _, seen := text[k]; !seen {
				order = append(order, k)
				f.Asserted(1)
			}
			if ended[k] {
				f.At(e, "block %s has ended, and this delta follows", d.BlockID)
			}
			text[k] += d.Text
		case event.BlockEnd:
			k := block{e.SessionID, e.SubagentID, d.BlockID}
			if _, known := text[k]; !known {
				if !thinking[k] {
					f.At(e, "block_end names the block %s, which has no text", d.BlockID)
				}
				continue
			}
			if ended[k] {
				f.At(e, "block %s ends a second time", d.BlockID)
			}
			ended[k] = true
			judgeStatus(f, e, d, text[k], finished[strings.TrimSpace(text[k])], runindex.StopsTurn(t.Run))
		}
	}
	for _, k := range order {
		if !ended[k] {
			f.Failf("block %s has no block_end", k.id)
		}
	}
}

// judgeStatus judges how a block ended. If the client stops a turn, the runtime may
// call a finished text interrupted.
func judgeStatus(f *conformance.Finding, e conformance.Event, d event.BlockEnd, text string, finished, stops bool) {
	switch {
	case d.Status == event.BlockReplaced && d.Text == "":
		f.At(e, "block %s is replaced, but no text replaces it", d.BlockID)
	case d.Status == event.BlockReplaced && d.Text == text:
		f.At(e, "block %s is replaced by the text that it holds", d.BlockID)
	case d.Status != event.BlockReplaced && d.Text != "":
		f.At(e, "block %s is %s, but its end holds a text", d.BlockID, d.Status)
	case d.Status == event.BlockInterrupted && finished && !stops:
		f.At(e, "the model finished the text of block %s, but the block is interrupted", d.BlockID)
	}
}
