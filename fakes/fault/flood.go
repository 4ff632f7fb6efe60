package fault

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// FloodDeltas is how many deltas a flood has: some megabytes, which is more than a
// client may keep for a listener that takes nothing.
const FloodDeltas = 8192

// FloodText returns the text of all deltas of a flood. Each has another number.
func FloodText() string {
	var b strings.Builder
	for i := range FloodDeltas {
		b.WriteString(floodDelta(i))
	}
	return b.String()
}

func floodDelta(i int) string { return fmt.Sprintf("<%d>", i) }

// flood makes the runtime write much more than a listener takes, and slows the
// listener down.
func flood() Operator {
	return Operator{
		Name: "flood", Kind: Transparent, Selective: true,
		Doc: fmt.Sprintf("%d more deltas follow a delta at once, and the client takes no event for a while.", FloodDeltas),
		places: func(c *lines, named bool) []int {
			if all := c.outputsWhere(c.isText); named && len(all) > 0 {
				return all[:1]
			}
			return nil
		},
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{SlowListener: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				w := lines[i]
				w.Bytes = c.floodLines(place)
				return slices.Insert(slices.Clone(lines), i+1, w)
			})
		},
	}
}

// floodLines are copies of a delta's line, glued. Each has another text, and
// another id if lines have one.
func (c *lines) floodLines(place int) []byte {
	line, l := c.wire[place].Bytes, &c.read[place]
	text, err := jsontext.AppendQuote(nil, l.Piece.Text)
	if err != nil {
		return line
	}
	before, behind, _ := bytes.Cut(line, text)
	out := make([][]byte, FloodDeltas)
	for i := range out {
		rest := behind
		if len(l.UUID) > 12 {
			rest = bytes.ReplaceAll(behind, []byte(l.UUID), fmt.Appendf(nil, "%s%012x", l.UUID[:len(l.UUID)-12], i))
		}
		out[i] = slices.Concat(before, fmt.Appendf(nil, "%q", floodDelta(i)), rest)
	}
	return bytes.Join(out, []byte("\n"))
}
