package tool

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestAgreeComparesElidedTexts checks outputs of which the redactor has elided a part.
func TestAgreeComparesElidedTexts(t *testing.T) {
	for name, c := range map[string]struct {
		text, got string
		want      bool
	}{
		"nothing is elided":          {"a b c", "b c d", false},
		"elided in the text":         {"one <elided:20> six", "two three four six", true},
		"elided in the output":       {"one two three four", "one <elided:9> four", true},
		"elided in both":             {"<elided:30> amber\nlamp", "Exit code 1 <elided:12> amber\nlamp", true},
		"other text behind the span": {"one <elided:5> six", "two three seven", false},
		"other text between":         {"one <elided:4> two <elided:4> three", "one x three", false},
		"longer at the end":          {"<elided:4> amber", "amber lamp", false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(agree(c.text, c.got)).To(Equal(c.want))
		})
	}
}
