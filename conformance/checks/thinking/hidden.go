package thinking

import (
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Hidden is the check thinking.hidden.
var Hidden = &conformance.Check{
	ID: "thinking.hidden", Source: "claude-agent-sdk-typescript#337: thinking that is blank", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"thinking"},
	Mend:     "If reasoning has no visible words (it is redacted or encrypted), emit no block with text for it.",
	Sentence: "Reasoning without words makes no block: a block of thinking that holds text holds words.",
	Judge:    judgeHidden,
}

// judgeHidden looks for blocks whose text is blank. Thinking without any text only
// reports that the model thinks.
func judgeHidden(t *conformance.Trial, f *conformance.Finding) {
	type block struct{ session, agent, id string }
	var order []block
	text := map[block]string{}
	for e, d := range runindex.EventsOf[event.Thinking](t.Run) {
		if strings.TrimSpace(d.Text) == "" && !d.Done {
			f.Asserted(1)
		}
		if d.Text == "" {
			continue
		}
		k := block{e.SessionID, e.SubagentID, d.BlockID}
		if text[k] == "" {
			order = append(order, k)
		}
		text[k] += d.Text
	}
	retracted := map[block]bool{}
	for e, d := range runindex.EventsOf[event.BlockEnd](t.Run) {
		if d.Status == event.BlockRetracted {
			retracted[block{e.SessionID, e.SubagentID, d.BlockID}] = true
		}
	}
	for _, k := range order {
		if strings.TrimSpace(text[k]) == "" && !retracted[k] {
			f.Failf("a block of thinking holds no words (block %s)", k.id)
		}
	}
}
