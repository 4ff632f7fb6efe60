package shrink

import (
	"regexp"
	"slices"
	"strings"
)

// Smallest replaces a value by the first of its smaller forms that try keeps, and that by the
// first of its forms, until try keeps none or more returns false.
func Smallest[T any](value T, forms func(T) []T, more func() bool, try func(T) bool) T {
	for again := true; again && more(); {
		again = false
		for _, form := range forms(value) {
			if again = more() && try(form); again {
				value = form
				break
			}
		}
	}
	return value
}

// reduce removes elements of a list: halves first, then smaller parts, then single
// ones. try tries what is left and reports whether it was kept.
func reduce[T any](list []T, more func() bool, try func(rest []T) bool) {
	for size := max(1, len(list)/2); ; size /= 2 {
		for from := len(list) - size; from > -size && more(); from -= size {
			start := max(0, from)
			if rest := slices.Delete(slices.Clone(list), start, min(len(list), from+size)); try(rest) {
				list = rest
			}
		}
		if size <= 1 || !more() {
			return
		}
	}
}

var varying = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f-]*`)

// Words returns the beginning of a problem, up to what comes from the case. What is smaller has
// to fail in the same words, or it may fail for another reason.
func Words(problem string) string {
	before, _, _ := strings.Cut(problem, ":")
	if i := strings.IndexAny(before, "\"{"); i >= 0 {
		before = before[:i]
	}
	return varying.ReplaceAllString(before, "N")
}
