package text

import (
	"slices"
	"strings"
)

func sorted(s string) string {
	r := []rune(s)
	slices.Sort(r)
	return string(r)
}

// paragraphs breaks a long text into lines, for a diff that can be read.
func paragraphs(s string) string {
	return strings.ReplaceAll(s, ". ", ".\n") + "\n"
}

func strip(s string) string { return strings.Join(strings.Fields(s), "") }
