package acp

import (
	"fmt"
	"slices"
	"strings"
)

// maxDiffLines bounds the lines that are compared. Longer texts are shown as one change.
const maxDiffLines = 2000

// contextLines are the unchanged lines around a change.
const contextLines = 3

// unifiedDiff returns the hunks of a unified diff between two texts.
func unifiedDiff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	ops := make([]diffLine, 0, len(a)+len(b))
	for _, l := range a[:start] {
		ops = append(ops, diffLine{' ', l})
	}
	ops = append(ops, middle(a[start:len(a)-end], b[start:len(b)-end])...)
	for _, l := range a[len(a)-end:] {
		ops = append(ops, diffLine{' ', l})
	}
	return hunks(ops)
}

type diffLine struct {
	op   byte
	text string
}

func splitLines(s string) []string { return slices.Collect(strings.Lines(s)) }

// middle compares the lines between the common beginning and end: by their longest common
// subsequence.
func middle(a, b []string) (out []diffLine) {
	if len(a) > maxDiffLines || len(b) > maxDiffLines {
		for _, l := range a {
			out = append(out, diffLine{'-', l})
		}
		for _, l := range b {
			out = append(out, diffLine{'+', l})
		}
		return out
	}
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, diffLine{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, diffLine{'-', a[i]})
			i++
		default:
			out = append(out, diffLine{'+', b[j]})
			j++
		}
	}
	return out
}

// hunks writes the changes with the lines around them.
func hunks(ops []diffLine) string {
	var out strings.Builder
	before, after := 1, 1
	for i := 0; i < len(ops); {
		next := i
		for next < len(ops) && ops[next].op == ' ' {
			next++
		}
		if next == len(ops) {
			break
		}
		from := max(i, next-contextLines)
		before, after = before+from-i, after+from-i
		to, last := next, next
		for to < len(ops) && to-last <= 2*contextLines {
			if ops[to].op != ' ' {
				last = to
			}
			to++
		}
		to = min(len(ops), last+1+contextLines)
		var body strings.Builder
		removed, added := 0, 0
		for _, l := range ops[from:to] {
			if l.op != '+' {
				removed++
			}
			if l.op != '-' {
				added++
			}
			body.WriteString(string(l.op) + strings.TrimSuffix(l.text, "\n") + "\n")
			if !strings.HasSuffix(l.text, "\n") {
				body.WriteString("\\ No newline at end of file\n")
			}
		}
		fmt.Fprintf(&out, "@@ -%s +%s @@\n%s", span(before, removed), span(after, added), body.String())
		before, after = before+removed, after+added
		i = to
	}
	return out.String()
}

func span(first, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", first-1)
	case 1:
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d,%d", first, n)
}
