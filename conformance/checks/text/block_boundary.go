package text

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
)

// BlockBoundary is the check text.block-boundary.
var BlockBoundary = &conformance.Check{
	ID: "text.block-boundary", Source: "wire/claude: a message has several blocks", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"delta.block_id"},
	Needs:    []string{"delta.block_id"},
	Mend:     "Derive block_id from the message and the index of the content block. Begin another block after each tool call.",
	Sentence: "Two texts of the model are two blocks: text before a tool call and text after it are never one block.",
	Judge:    judgeBoundaries,
}

func judgeBoundaries(t *conformance.Trial, f *conformance.Finding) {
	pieces := runindex.ExpectedSegments(t.Run)
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
