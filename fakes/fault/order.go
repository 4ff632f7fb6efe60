package fault

import (
	"bytes"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
)

// reorderIndependent exchanges two lines that are independent of each other: of two
// tools that run at once, or of two agents.
func reorderIndependent() Operator {
	return Operator{
		Name: "reorder-independent", Kind: Transparent, Doc: "Two lines that follow each other, of two tools or two agents that work at once, are exchanged.",
		places: func(c *lines, _ bool) []int { return c.outputsWhere(c.isIndependent) },
		apply: func(c *lines, place int) Fault {
			return at(c, place, Fault{}, func(lines []fixtures.WireLine, i int) []fixtures.WireLine {
				out := slices.Clone(lines)
				out[i], out[i+1] = lines[i+1], lines[i]
				out[i].T, out[i+1].T = lines[i].T, lines[i+1].T // the times stay
				return out
			})
		},
	}
}

// isIndependent reports whether a line and the next one are of two tools or two
// agents, and neither names the other's.
func (c *lines) isIndependent(i int) bool {
	if i+1 >= len(c.wire) || c.wire[i+1].Dir != fixtures.Out || c.wire[i].Process != c.wire[i+1].Process {
		return false
	}
	x, y := &c.read[i], &c.read[i+1]
	if !x.Work || x.Shared || !y.Work || y.Shared {
		return false
	}
	a, b := x.Agent, y.Agent
	if c.rt.Threads {
		a, b = x.Session, y.Session
	}
	if a != b {
		return (a == "" || !bytes.Contains(c.wire[i+1].Bytes, []byte(a))) && (b == "" || !bytes.Contains(c.wire[i].Bytes, []byte(b)))
	}
	return x.Call != "" && y.Call != "" && x.Call != y.Call
}
