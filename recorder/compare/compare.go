// Package compare answers one question: do two recordings hold the same
// behaviour?
//
// A recording is taken apart into streams: the life of a process, what the
// client sent, the answer to one of its requests, one item of a thread, one kind
// of notification, the witness of one agent. Within a stream the order counts;
// between streams it does not, for independent work interleaves by chance. What
// the clock or a random number decides is renamed or dropped; noise.go lists it
// name by name, with the reason. Stderr is not compared: it is a log.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/turnspec/turnspec/fixtures"
)

// Stream is a part of a recording whose order is not chance.
type Stream struct {
	Key   string
	Lines []Line
}

// Line is a normalized line.
type Line struct {
	N    int    // in the wire, from 1; of the witness: the request
	Text string // direction and JSON: members sorted, noise dropped
}

// Normalize takes a recording apart into streams, sorted by key.
func Normalize(c *fixtures.Case) []Stream {
	n := newNormalizer(c)
	for i := range c.Wire {
		n.line(i)
	}
	n.settle()
	n.witness()
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

// Diff returns "" if the recordings are equal after normalization, else the
// differences, stream by stream.
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
	// what comes first in the recordings is shown first
	slices.SortStableFunc(keys, func(x, y string) int { return first(in[x]) - first(in[y]) })
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
		fmt.Fprintf(&out, "%s: %s\n", key, where(pair, i))
		d := difflib.UnifiedDiff{A: flat(pair[0]), B: flat(pair[1]), FromFile: name(a), ToFile: name(b), Context: 3}
		text, err := difflib.GetUnifiedDiffString(d)
		if err != nil {
			text = err.Error() + "\n" // a Builder does not fail
		}
		out.WriteString(text)
	}
	return out.String()
}

func first(pair [2][]Line) int {
	n := int(^uint(0) >> 1)
	for _, lines := range pair {
		if len(lines) > 0 {
			n = min(n, lines[0].N)
		}
	}
	return n
}

func where(pair [2][]Line, i int) string {
	side := func(lines []Line) string {
		if i < len(lines) {
			return fmt.Sprintf("line %d", lines[i].N)
		}
		return "nothing"
	}
	return fmt.Sprintf("got %s, want %s", side(pair[1]), side(pair[0]))
}

func name(c *fixtures.Case) string {
	switch {
	case c.File != "":
		return c.File
	case c.ID != "":
		return c.ID
	}
	return c.Runtime + " " + c.Version
}

// flat gives each member a line of its own, so that a difference is small.
func flat(lines []Line) []string {
	var out []string
	for _, l := range lines {
		dir, j, ok := strings.Cut(l.Text, " ")
		tree := parse([]byte(j))
		if !ok || tree == nil {
			out = append(out, l.Text+"\n")
			continue
		}
		out = append(out, dir+"\n")
		tree.flatten("  ", func(s string) { out = append(out, s+"\n") })
	}
	return out
}
