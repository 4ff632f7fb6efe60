package fault

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// Flooded is how many deltas a flood has: some megabytes, which is more than a
// client may keep for a listener that takes nothing.
const FloodDeltas = 8192

// FloodText is what the deltas of a flood say, each with a number of its own.
func FloodText() string {
	var b strings.Builder
	for i := range FloodDeltas {
		b.WriteString(drop(i))
	}
	return b.String()
}

func drop(i int) string { return fmt.Sprintf("<%d>", i) }

// flood lets the runtime say much more than a listener takes, and gives it a
// listener that is slow.
func flood() Operator {
	const name = "flood"
	return Operator{
		Name: name, Kind: Transparent, Doc: fmt.Sprintf("After a delta come %d more at once, and nobody takes an event for a while, on the cases of %s.", FloodDeltas, Plainest),
		Places: func(c *fixtures.Case) []int {
			if c.Scenario != Plainest {
				return nil
			}
			for _, i := range outputs(c) {
				if standin.TextDelta(c.Runtime, c.Wire[i].Bytes) != "" {
					return []int{i}
				}
			}
			return nil
		},
		Apply: func(c *fixtures.Case, place int) Fault {
			return at(c, place, Fault{Operator: name, Kind: Transparent, SlowListener: true}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				w := lines[i]
				w.Bytes = drops(c.Runtime, w.Bytes)
				return slices.Insert(slices.Clone(lines), i+1, w)
			})
		},
	}
}

// lineID is the id of a line of Claude Code: no two have the same.
var lineID = regexp.MustCompile(`("uuid":"[0-9a-f-]{24})[0-9a-f]{12}"`)

// drops are copies of a delta's line, glued, each with its own text and id.
func drops(of string, line []byte) []byte {
	text, err := jsontext.AppendQuote(nil, standin.TextDelta(of, line))
	if err != nil {
		return line
	}
	before, behind, _ := bytes.Cut(line, text)
	behind = lineID.ReplaceAll(behind, []byte(`${1}%012x"`))
	out := make([][]byte, FloodDeltas)
	for i := range out {
		rest := bytes.ReplaceAll(behind, []byte("%012x"), fmt.Appendf(nil, "%012x", i))
		out[i] = slices.Concat(before, fmt.Appendf(nil, "%q", drop(i)), rest)
	}
	return bytes.Join(out, []byte("\n"))
}
