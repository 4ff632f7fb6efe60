package text

import (
	"fmt"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Once is the check text.once.
var Once = &conformance.Check{
	ID: "text.once", Source: "ex_mcp#14, parsar#308: text shown twice", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"block_end", "block_end.block_id", "block_end.status", "block_end.text", "delta", "delta.text", "turn_start.message_ids"},
	Aliases:  []string{"text.fallback"},
	Needs:    []string{"delta"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Take the text from one place. If deltas were streamed, do not emit the complete message or the final result as text again.",
	Sentence: "The deltas of a turn, joined, are the text of the model, exactly once.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(len(runindex.ExpectedSegments(t.Run)))
		got := runindex.Of(t.Run).VisibleText()
		want := runindex.ExpectedText(t.Run, got)
		if sorted(got) != sorted(want) {
			f.Diff("the text is not what the model said", paragraphs(want), paragraphs(got))
			return
		}
		judgeTurns(t.Run, f)
	},
}

// judgeTurns demands that text is in the turn whose message it answers, if messages
// identify the turns.
func judgeTurns(r *conformance.Run, f *conformance.Finding) {
	turns, want := runindex.TurnsOfRequests(r), map[int]string{}
	for _, p := range runindex.ExpectedSegments(r) {
		if turns[p.Req] == 0 || p.Prefix {
			return // a turn that the runtime began by itself, or text of unknown length
		}
		want[turns[p.Req]] += p.Text
	}
	for _, n := range slices.Sorted(maps.Keys(want)) {
		if got := runindex.Of(r).TextOf(n); sorted(want[n]) != sorted(got) {
			f.Diff(fmt.Sprintf("the text of turn %d is not the model's reply to its messages", n), paragraphs(want[n]), paragraphs(got))
		}
	}
}
