package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
)

// checker reads a stream.
type checker interface {
	Add(message []byte) []dialect.Problem
	End() []dialect.Problem
}

// broken is a writer with a defect: it writes a good stream, changed by edit.
type broken struct {
	name string
	edit func(lines []string) []string
	want string // the rules that its stream breaks, in order
}

// testBroken gives a good stream to a checker, and that of each broken writer to another. It fails
// unless each rule is broken by a writer.
func testBroken(t *testing.T, good []string, newChecker func() checker, rules []string, all []broken) {
	t.Helper()
	all = append([]broken{{"nothing", func(l []string) []string { return l }, ""}}, all...)
	var seen []string
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) {
			var got []string
			c := newChecker()
			add := func(problems []dialect.Problem) {
				for _, p := range problems {
					got = append(got, p.Rule)
				}
			}
			for _, line := range b.edit(slices.Clone(good)) {
				add(c.Add([]byte(line)))
			}
			add(c.End())
			if s := strings.Join(got, " "); s != b.want {
				t.Errorf("got the problems %q, want %q", s, b.want)
			}
			seen = append(seen, got...)
		})
	}
	for _, rule := range rules {
		if !slices.Contains(seen, rule) {
			t.Errorf("no broken writer breaks the rule %s", rule)
		}
	}
}

// without removes the first line that contains a text.
func without(text string) func([]string) []string {
	return func(lines []string) []string { return slices.Delete(lines, at(lines, text), at(lines, text)+1) }
}

// twice repeats the first line that contains a text.
func twice(text string) func([]string) []string {
	return func(lines []string) []string { return slices.Insert(lines, at(lines, text), lines[at(lines, text)]) }
}

// replaced replaces a text in the first line that contains it.
func replaced(old, text string) func([]string) []string {
	return func(lines []string) []string {
		i := at(lines, old)
		lines[i] = strings.Replace(lines[i], old, text, 1)
		return lines
	}
}

// swapped exchanges the first lines that contain two texts.
func swapped(one, other string) func([]string) []string {
	return func(lines []string) []string {
		i, j := at(lines, one), at(lines, other)
		lines[i], lines[j] = lines[j], lines[i]
		return lines
	}
}

// before inserts a line before the first line that contains a text.
func before(text, line string) func([]string) []string {
	return func(lines []string) []string { return slices.Insert(lines, at(lines, text), line) }
}

// followed appends lines.
func followed(more ...string) func([]string) []string {
	return func(lines []string) []string { return append(lines, more...) }
}

func at(lines []string, text string) int {
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) })
	if i < 0 {
		panic("no line contains " + text)
	}
	return i
}
