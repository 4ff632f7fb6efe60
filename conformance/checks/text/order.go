package text

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Order is the check text.order.
var Order = &conformance.Check{
	ID: "text.order", Source: "AgentRecall#503: tokens scrambled on reload", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"delta"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Emit deltas from one goroutine, or under one lock, in the order in which the lines were read.",
	Sentence: "Text comes in the order of the model's reply, also in bursts within one millisecond.",
	Judge:    judgeOrder,
}

// judgeOrder demands equal text if no character is missing or doubled. Otherwise the
// texts that it finds must come in order.
func judgeOrder(t *conformance.Trial, f *conformance.Finding) {
	pieces := runindex.ExpectedSegments(t.Run)
	f.Asserted(len(pieces))
	got := runindex.Of(t.Run).VisibleText()
	want := runindex.ExpectedText(t.Run, got)
	if sorted(got) == sorted(want) {
		if got != want {
			f.Diff("the text is all there, but not in order", paragraphs(want), paragraphs(got))
		}
		return
	}
	last := -1
	for _, p := range pieces {
		i := strings.Index(got[max(last, 0):], p.Text)
		if i >= 0 {
			last = max(last, 0) + i
		} else if strings.Contains(got, p.Text) && !p.Prefix {
			f.Failf("%q comes before earlier text of the model", p.Text)
		}
	}
}
