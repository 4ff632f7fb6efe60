package conformance

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable escapes the control characters of a text, which would change the terminal,
// except tabs and line ends.
func Printable(text string) string {
	unprintable := func(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unprintable(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
