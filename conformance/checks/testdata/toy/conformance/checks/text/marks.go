// Package text holds the toy check, beside the checks of the text that the model writes.
package text

import (
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Marks is the check text.marks.
var Marks = &conformance.Check{
	ID: "text.marks", Source: "toy_test.go", Tiers: []conformance.Tier{conformance.TierWitness},
	Needs:    []string{"delta"},
	Mend:     "Emit the text as it is, without normalizing it.",
	Sentence: "Marks that combine with a letter are emitted.",
	Judge: func(t *conformance.Trial, f *conformance.Finding) {
		got := runindex.Of(t.Run).VisibleText()
		want := strings.Count(runindex.ExpectedText(t.Run, got), diaeresis)
		f.Asserted(want)
		if n := strings.Count(got, diaeresis); n != want {
			f.Failf("%d of %d marks are emitted", n, want)
		}
	},
}

// diaeresis is a mark that combines with the letter before it.
const diaeresis = "\u0308"
