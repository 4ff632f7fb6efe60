package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	longLine = 400 // bytes; if a line is longer, text that both lines share is left out
	context  = 60  // bytes of shared text that are kept
	maxLines = 400 // of a diff
)

// shortenDiff shortens the long lines of a unified diff. Of the text that a line
// shares with the line that replaces it, it keeps only a few words.
func shortenDiff(diff string) string {
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	if diff == "" {
		return ""
	}
	for i := 0; i < len(lines); {
		from := i
		for i < len(lines) && isRemoved(lines[i]) {
			i++
		}
		mid := i
		for i < len(lines) && isAdded(lines[i]) {
			i++
		}
		if i == from {
			lines[i], _ = clipText(lines[i])
			i++
			continue
		}
		for k := from; k < mid; k++ {
			if other := mid + k - from; other < i {
				lines[k], lines[other] = shortenPair(lines[k], lines[other])
			}
		}
		for k := from; k < i; k++ {
			lines[k], _ = clipText(lines[k])
		}
	}
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], fmt.Sprintf("… %d lines more", len(lines)-maxLines))
	}
	return strings.Join(lines, "\n") + "\n"
}

func isRemoved(l string) bool { return strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "--- ") }
func isAdded(l string) bool   { return strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++ ") }

func shortenPair(a, b string) (string, string) {
	if len(a) <= longLine && len(b) <= longLine {
		return a, b
	}
	x, y := a[1:], b[1:]
	head := 0
	for head < len(x) && head < len(y) && x[head] == y[head] {
		head++
	}
	for head > 0 && head < len(x) && !utf8.RuneStart(x[head]) {
		head--
	}
	tail := 0
	for tail < len(x)-head && tail < len(y)-head && x[len(x)-1-tail] == y[len(y)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(x[len(x)-tail]) {
		tail--
	}
	cut := func(s string) string {
		before, after := s[:head], s[len(s)-tail:]
		if len(before) > 2*context {
			at := len(before) - context
			for !utf8.RuneStart(before[at]) {
				at--
			}
			before = fmt.Sprintf("[… %d bytes the same …]", at) + before[at:]
		}
		if len(after) > 2*context {
			at := context
			for !utf8.RuneStart(after[at]) {
				at++
			}
			after = after[:at] + fmt.Sprintf("[… %d bytes the same …]", len(after)-at)
		}
		middle, _ := clipText(s[head : len(s)-tail])
		return before + middle + after
	}
	return a[:1] + cut(x), b[:1] + cut(y)
}
