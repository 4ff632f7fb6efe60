package text

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Retracted is the check text.retracted.
var Retracted = &conformance.Check{
	ID: "text.retracted", Source: "Claude Code abandons blocks of a cut stream; Codex repeats a retried message in a new item", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"block_end", "block_end.block_id"},
	Needs:    []string{"delta", "block_end"},
	Mend:     "If the runtime starts a message again or reports a retry, end the abandoned block with status retracted before the new one begins.",
	Sentence: "Deltas that the runtime abandoned (cut stream, retry) do not stay in the final text.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		reqs := runindex.Requests(t.Run)
		bs := runindex.Of(t.Run).Blocks()
		for i, q := range reqs {
			if !runindex.Abandoned(reqs, i) {
				continue
			}
			for j, s := range q.Output {
				if s.Text == "" || !runindex.CutShort(q, j) {
					continue
				}
				f.Asserted(1)
				for _, b := range bs {
					if text := b.Text; !b.Retracted && text != "" && strings.HasPrefix(s.Text, text) && saidLater(bs, b, reqs[i+1]) {
						f.At(b.First, "%q was cut and repeated, and is still in the text", text)
					}
				}
			}
		}
	},
}

// saidLater reports whether a block after b begins with a text of the request's reply.
func saidLater(bs []*runindex.TextBlock, b *runindex.TextBlock, q fixtures.Request) bool {
	for _, later := range bs[slices.Index(bs, b)+1:] {
		for _, s := range q.Output {
			if s.Text != "" && strings.HasPrefix(later.Text, s.Text) {
				return true
			}
		}
	}
	return false
}
