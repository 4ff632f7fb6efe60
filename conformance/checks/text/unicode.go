package text

import (
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/faulted"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Unicode is the check text.unicode.
var Unicode = &conformance.Check{
	ID: "text.unicode", Source: "nerve#424: characters broken at the edge of a read", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:      []string{"delta"},
	Mend:       "Split the stream into lines as bytes, and decode a line only when it is complete.",
	Sentence:   "The text is the same however the stream is split, also inside a character or an escape.",
	Faults:     []string{"split-every-byte"},
	JudgeFault: judgeUnicode,
	FaultShows: func(c *fixtures.Case) bool {
		for _, q := range c.Witness {
			for _, part := range q.Output {
				if len(part.Text) != len([]rune(part.Text)) {
					return true
				}
			}
		}
		return false
	},
}

// judgeUnicode looks at text that has more than one byte to a character.
func judgeUnicode(plain, r *conformance.Run, f *conformance.Finding) {
	want := runindex.Of(plain).VisibleText()
	if len(want) == len([]rune(want)) {
		return
	}
	f.Asserted(1)
	if got := runindex.Of(r).VisibleText(); got != want {
		p := conformance.Problem{Text: "the text differs",
			Diff: conformance.Diff("without the fault", want+"\n", "split", got+"\n")}
		faulted.Place(&p, r, 0)
		f.Problems = append(f.Problems, p)
	}
}
