package text

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// BlockBoundary is the check text.block-boundary.
var BlockBoundary = &conformance.Check{
	ID: "text.block-boundary", Source: "wire/claude: a message has several blocks", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"delta.block_id"},
	Needs:    []string{"delta.block_id"},
	Mend:     "Derive block_id from the message and the index of the content block, and not from the delta. Begin another block after each tool call.",
	Sentence: "Each text of the model is one block, in however many deltas it comes. Two texts are two blocks: text before a tool call and text after it are never one block.",
	Judge:    judgeBoundaries,
}

func judgeBoundaries(t *conformance.Trial, f *conformance.Finding) {
	pieces := runindex.ExpectedSegments(t.Run)
	for _, p := range pieces {
		if strings.TrimSpace(p.Text) != "" && !p.Prefix && !p.Parted {
			f.Asserted(1)
			judgeWhole(t.Run, f, p.Text)
		}
	}
	for i := 1; i < len(pieces); i++ {
		a, b := strings.TrimSpace(pieces[i-1].Text), strings.TrimSpace(pieces[i].Text)
		if a == "" || b == "" || pieces[i-1].Prefix {
			continue
		}
		f.Asserted(1)
		for _, x := range runindex.Of(t.Run).Blocks() {
			text := x.Text
			if at := strings.Index(text, a); at >= 0 && strings.HasPrefix(strings.TrimSpace(text[at+len(a):]), b) {
				f.At(x.First, "block %s holds two texts of the model: %q", x.ID, runindex.Clip(text))
			}
		}
	}
}

// judgeWhole demands that no text of the model is that of several blocks.
func judgeWhole(r *conformance.Run, f *conformance.Finding, text string) {
	blocks := runindex.Of(r).Blocks()
	for i, first := range blocks {
		joined := first.Text
		for n, b := range blocks[i+1:] {
			if b.Turn != first.Turn || !strings.HasPrefix(text, joined) || len(joined) >= len(text) || joined == "" {
				break
			}
			if joined += b.Text; joined == text {
				f.At(first.First, "%d blocks, the first of them %s, hold one text of the model: %q", n+2, first.ID, runindex.Clip(text))
				return
			}
		}
	}
}
