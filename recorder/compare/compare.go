// Package compare compares two recordings of the same scenario. It is not part of the
// stable interface.
//
// It divides a recording into streams: the start and end of a process, the lines
// of the client, the reply to one of its requests, one item of a thread, one kind
// of notification, the witness of one agent. The order within a stream is
// compared. The order between streams is not, because independent work
// interleaves by chance. Values that depend on the clock or on random numbers are
// renamed or dropped; noise.go and the wire.Comparison of a runtime list them with
// a reason. Stderr is a log and is not compared.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/turnspec/turnspec/fixtures"
)

// Stream is a part of a recording whose order does not depend on chance.
type Stream struct {
	Key   string
	Lines []Line
}

// Line is a normalized line.
type Line struct {
	N    int    // its number in the wire, from 1, or that of the witness's request
	Text string // direction and JSON, with sorted members and without noise
}

// Normalize returns the streams of a recording, sorted by key.
func Normalize(c *fixtures.Case) []Stream {
	n := newNormalizer(c)
	for i := range c.Wire {
		n.addWire(i)
	}
	n.dropSums()
	n.addWitness()
	out := make([]Stream, 0, len(n.streams))
	for key, pending := range n.streams {
		s := Stream{Key: key}
		names := n.namer(pending)
		for _, p := range pending {
			text := p.text
			if p.tree != nil {
				text += " " + p.tree.render(names)
			}
			s.Lines = append(s.Lines, Line{p.n, text})
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Stream) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// Same reports whether Diff finds no difference. It is faster than Diff.
func Same(a, b *fixtures.Case) bool {
	return slices.EqualFunc(Normalize(a), Normalize(b), func(x, y Stream) bool {
		return x.Key == y.Key && slices.EqualFunc(x.Lines, y.Lines, func(x, y Line) bool { return x.Text == y.Text })
	})
}

// Diff returns the differences between two recordings, stream by stream, or "" if
// there are none.
func Diff(a, b *fixtures.Case) string {
	in := map[string][2][]Line{}
	var keys []string
	for side, c := range []*fixtures.Case{a, b} {
		for _, s := range Normalize(c) {
			pair, have := in[s.Key]
			if !have {
				keys = append(keys, s.Key)
			}
			pair[side] = s.Lines
			in[s.Key] = pair
		}
	}
	// A stream that begins earlier is printed earlier.
	slices.SortStableFunc(keys, func(x, y string) int { return firstLine(in[x]) - firstLine(in[y]) })
	var out strings.Builder
	for _, key := range keys {
		pair := in[key]
		i := 0
		for i < len(pair[0]) && i < len(pair[1]) && pair[0][i].Text == pair[1][i].Text {
			i++
		}
		if i == len(pair[0]) && i == len(pair[1]) {
			continue
		}
		fmt.Fprintf(&out, "%s: %s\n", key, position(pair, i))
		d := difflib.UnifiedDiff{A: flattenLines(pair[0]), B: flattenLines(pair[1]), FromFile: title(a), ToFile: title(b), Context: 3}
		text, err := difflib.GetUnifiedDiffString(d)
		if err != nil {
			text = err.Error() + "\n" // a Builder does not fail
		}
		out.WriteString(text)
	}
	return out.String()
}

func firstLine(pair [2][]Line) int {
	n := int(^uint(0) >> 1)
	for _, lines := range pair {
		if len(lines) > 0 {
			n = min(n, lines[0].N)
		}
	}
	return n
}

func position(pair [2][]Line, i int) string {
	side := func(lines []Line) string {
		if i < len(lines) {
			return fmt.Sprintf("line %d", lines[i].N)
		}
		return "nothing"
	}
	return fmt.Sprintf("got %s, want %s", side(pair[1]), side(pair[0]))
}

func title(c *fixtures.Case) string {
	switch {
	case c.File != "":
		return c.File
	case c.ID != "":
		return c.ID
	}
	return c.Runtime + " " + c.Version
}

// flattenLines puts each member into a line of its own, so that a diff is small.
func flattenLines(lines []Line) []string {
	var out []string
	for _, l := range lines {
		dir, j, ok := strings.Cut(l.Text, " ")
		tree := parseTree([]byte(j))
		if !ok || tree == nil {
			out = append(out, l.Text+"\n")
			continue
		}
		out = append(out, dir+"\n")
		tree.flatten("  ", func(s string) { out = append(out, s+"\n") })
	}
	return out
}
