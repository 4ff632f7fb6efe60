package fault

import (
	"maps"
	"slices"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// staleLine repeats, while a turn runs, a line of the one before it: its last delta,
// its last item or its end, depending on the place.
func staleLine() Operator {
	return Operator{
		Name: "stale-line", Kind: Transparent, Doc: "While a turn runs, a line of the one before it comes again: its last delta, its last item or its end. Only if lines name their turn.",
		places: func(c *lines, _ bool) []int { return slices.Sorted(maps.Keys(c.staleLines())) },
		apply: addLine(Fault{NoticeAllowed: true}, func(c *lines, place int) []byte {
			stale := c.staleLines()[place]
			return c.wire[stale[place%len(stale)]].Bytes
		}),
	}
}

// staleLines are, for each line that comes while a turn runs, the lines of the last
// turn that has ended.
func (c *lines) staleLines() map[int][]int {
	out := map[int][]int{}
	if !c.rt.TurnIDs {
		return out
	}
	last, ended := map[thread]map[turnPart]int{}, map[thread][]int{}
	for _, i := range c.outputs() {
		l, at := &c.read[i], c.ofSession(i)
		if l.Session != at.id {
			continue
		}
		switch part := c.markOf(i).part; part {
		case ofEnd:
			ended[at] = nil
			for _, of := range []turnPart{ofDelta, ofItem} {
				if k, ok := last[at][of]; ok && c.read[k].Turn == l.Turn {
					ended[at] = append(ended[at], k)
				}
			}
			ended[at] = append(ended[at], i)
			delete(last, at)
		case ofDelta, ofItem:
			if last[at] == nil {
				last[at] = map[turnPart]int{}
			}
			last[at][part] = i
		}
		if c.turns[i] != "" && len(ended[at]) > 0 {
			out[i] = ended[at]
		}
	}
	return out
}

// isEcho reports whether a line repeats what the client wrote: a message, or an
// answer.
func (c *lines) isEcho(i int) bool {
	l := &c.read[i]
	if l.Echo || !l.EchoesAnswer || l.Kind != wire.Reply {
		return l.Echo
	}
	for k := range c.wire[:i] {
		if q := &c.read[k]; c.wire[k].Process == c.wire[i].Process && q.Kind == wire.Answer && wire.Unquote(q.RepliesTo) == wire.Unquote(l.RepliesTo) {
			return true
		}
	}
	return false
}

// echoInput repeats what a runtime echoes of its client.
func echoInput() Operator {
	return Operator{
		Name: "echo-input", Kind: Transparent, Doc: "What the runtime echoes of its client's own messages and answers comes twice.",
		places: func(c *lines, _ bool) []int { return c.outputsWhere(c.isEcho) },
		apply:  repeatLine,
	}
}
