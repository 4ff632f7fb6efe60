package conformance

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// Diff shows how two texts differ, as a unified diff.
func Diff(nameA, a, nameB, b string) string {
	s, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines(a), B: lines(b), FromFile: nameA, ToFile: nameB, Context: 3,
	})
	if err != nil {
		return err.Error()
	}
	return s
}

// lines keeps the line ends; a text without the last one gets it.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
	out[len(out)-1] += "\n"
	return out
}
