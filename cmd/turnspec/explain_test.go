package main

import (
	"strings"
	"testing"

	"github.com/turnspec/turnspec/conformance"
)

// Each MUST check says how an adapter that fails it is mended, in one to three
// sentences.
func TestChecksSayHowToMend(t *testing.T) {
	for _, c := range everyCheck() {
		sentences := strings.Count(c.Mend+" ", ". ")
		switch {
		case c.Mend == "" && c.Severity == conformance.Must:
			t.Errorf("%s does not say how to mend an adapter that fails it", c.ID)
		case c.Mend != "" && (sentences < 1 || sentences > 3 || !strings.HasSuffix(c.Mend, ".")):
			t.Errorf("%s: want one to three sentences, have %q", c.ID, c.Mend)
		}
	}
}
