package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	longLine = 400 // bytes, from which on what is the same in two lines is left out
	context  = 60  // bytes that stay of it
	maxLines = 400 // of a difference
)

// shortened is a unified difference in which long lines keep what differs: of
// what a line and the one that replaces it have in common some words stay.
func shortened(diff string) string {
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	if diff == "" {
		return ""
	}
	for i := 0; i < len(lines); {
		from := i
		for i < len(lines) && removed(lines[i]) {
			i++
		}
		mid := i
		for i < len(lines) && added(lines[i]) {
			i++
		}
		if i == from {
			lines[i], _ = bounded(lines[i])
			i++
			continue
		}
		for k := from; k < mid; k++ {
			if other := mid + k - from; other < i {
				lines[k], lines[other] = shortenPair(lines[k], lines[other])
			}
		}
		for k := from; k < i; k++ {
			lines[k], _ = bounded(lines[k])
		}
	}
	if len(lines) > maxLines {
		lines = append(lines[:maxLines], fmt.Sprintf("… %d lines more", len(lines)-maxLines))
	}
	return strings.Join(lines, "\n") + "\n"
}

func removed(l string) bool { return strings.HasPrefix(l, "-") && !strings.HasPrefix(l, "--- ") }
func added(l string) bool   { return strings.HasPrefix(l, "+") && !strings.HasPrefix(l, "+++ ") }

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
		middle, _ := bounded(s[head : len(s)-tail])
		return before + middle + after
	}
	return a[:1] + cut(x), b[:1] + cut(y)
}
