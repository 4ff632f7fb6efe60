package fault

import (
	"cmp"
	"slices"

	"github.com/turnspec/turnspec/fixtures/wire"
)

// The operators below repeat a line of a turn after the turn has ended, or while the
// next one runs. An id proves that it is of the old turn. Stream events of older
// versions of Claude Code have none; there a late delta may as well be the first of a
// turn that the runtime begins by itself.

// lateDelta repeats the last delta of a turn after its end.
func lateDelta() Operator {
	return lateLine("late-delta", "After the end of a turn, or of Claude Code when the next one has begun, the last delta of its text comes again.", ofDelta)
}

// lateItem repeats the last item of a turn after its end.
func lateItem() Operator {
	return lateLine("late-item", "After the end of a turn, or of Claude Code when the next one has begun, its last item comes again.", ofItem)
}

// lateLine repeats a line of a turn after its end. If the end of a turn does not name
// it, only a turn counts that another one follows in its process, and there the line
// comes after the first line of that one too. If lines name their turn, see
// stale-line.
func lateLine(name, doc string, part turnPart) Operator {
	return Operator{
		Name: name, Kind: Transparent, Doc: doc,
		places: func(c *lines, _ bool) []int {
			places, _ := c.latePlaces(part)
			return places
		},
		apply: addLine(Fault{NoticeAllowed: true}, func(c *lines, place int) []byte {
			_, from := c.latePlaces(part)
			return c.wire[from[place]].Bytes
		}),
	}
}

// latePlaces are the places at which a line of a turn comes late, and that line of
// each.
func (c *lines) latePlaces(part turnPart) (places []int, from map[int]int) {
	from = map[int]int{}
	type turn struct {
		end, line int
		of        string
	}
	ended, last := map[thread]turn{}, map[thread]turn{}
	for _, i := range c.outputs() {
		m := c.markOf(i)
		k := thread{c.wire[i].Process, m.thread}
		switch m.part {
		case ofEnd:
			t, ok := last[k]
			delete(last, k)
			delete(ended, k)
			if !ok || m.of != "" && m.of != t.of {
				continue
			}
			ended[k] = turn{i, t.line, t.of}
			if m.of != "" {
				places, from[i] = append(places, i), t.line
			}
		case ofBegin:
			if t, ok := ended[k]; ok && m.of == "" {
				delete(ended, k)
				places = append(places, t.end, i)
				from[t.end], from[i] = t.line, t.line
			}
		case part:
			last[k] = turn{line: i, of: m.of}
			if ended[k].of == m.of {
				delete(ended, k) // it goes on
			}
		}
	}
	slices.Sort(places)
	return slices.Compact(places), from
}

// turnPart is the part that a line is of a turn of the session's own agent.
type turnPart int

const (
	ofNone turnPart = iota
	ofBegin
	ofDelta
	ofItem
	ofEnd
)

// turnMark distinguishes the lines of one turn from those of another: the thread or session,
// and of: the turn, or the message of the model if lines name no turn.
type turnMark struct {
	part       turnPart
	thread, of string
}

func (c *lines) markOf(i int) turnMark {
	l := &c.read[i]
	m := turnMark{thread: l.Session, of: cmp.Or(l.Turn, l.Message)}
	switch {
	case l.Agent != "":
	case l.Kind == wire.TurnStart:
		m.part = ofBegin
	case l.Kind == wire.TurnEnd:
		m.part = ofEnd
	case l.Kind == wire.Delta && l.Piece.Kind == wire.Text && m.of != "":
		m.part = ofDelta
	case l.Kind == wire.Item:
		m.part = ofItem
	}
	if m.part == ofNone {
		return turnMark{}
	}
	return m
}

// duplicateEnd repeats the end of a turn. Its id, or that of the message, proves that
// it is the same end.
func duplicateEnd() Operator {
	return Operator{
		Name: "duplicate-end", Kind: Transparent, Doc: "The end of a turn comes twice, with the same id.",
		places: func(c *lines, _ bool) []int {
			return c.outputsWhere(func(i int) bool {
				l := &c.read[i]
				return l.Kind == wire.TurnEnd && (l.Turn != "" || l.UUID != "")
			})
		},
		apply: repeatLine,
	}
}

// repeatLine adds a line again after itself.
var repeatLine = addLine(Fault{NoticeAllowed: true}, func(c *lines, place int) []byte { return c.wire[place].Bytes })
