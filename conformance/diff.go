package conformance

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Diff returns the unified diff of two texts, without colour.
func Diff(nameA, a, nameB, b string) string {
	s, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: splitLines(a), B: splitLines(b), FromFile: nameA, ToFile: nameB, Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return s
}

// splitLines splits after each line end. If the last line has none, it gets one.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
	out[len(out)-1] += "\n"
	return out
}
