package fault

import (
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Situation is what the runtime was doing at a line of its output. To an adapter, a fault is
// much the same wherever the situation is.
type Situation struct {
	// Here is the kind of the line and what was open before it, such as "delta text turn tool".
	// It is "" for a line that the runtime did not write.
	Here string
	// After is the kind of the last unusual line since the end of the turn before; "" for none.
	After string
}

// Situations returns the situation at each line of the wire of a case. Unusual holds kinds of
// lines, see [Kinds].
func Situations(c *fixtures.Case, unusual map[string]bool) []Situation {
	l := linesOf(c)
	out := make([]Situation, len(l.wire))
	s := situation{unusual: unusual}
	for i := range l.wire {
		if l.wire[i].Dir == fixtures.Out {
			out[i] = Situation{Here: s.at(l, i), After: s.after}
		}
		s.add(l, i)
	}
	return out
}

// Kinds returns the kinds of the lines of a case, in both directions.
func Kinds(c *fixtures.Case) map[string]bool {
	l := linesOf(c)
	out := map[string]bool{}
	for i := range l.wire {
		if d := l.wire[i].Dir; d == fixtures.Out || d == fixtures.In {
			out[kindOf(&l.read[i])] = true
		}
	}
	return out
}

// kindOf returns the kind of a line.
func kindOf(read *wire.Line) string {
	switch {
	case read.Kind == wire.Delta:
		return "delta " + string(read.Piece.Kind)
	case read.Name == "":
		return "reply"
	}
	return read.Name
}

// situation is what is open in a session.
type situation struct {
	turn     bool
	tools    map[string]bool // by the id of the call
	asked    map[string]bool // requests of the runtime, by id
	called   map[string]bool // requests of the client, by id
	stopping bool

	unusual map[string]bool // kinds of lines
	after   string          // the last of them since the end of a turn
}

// at returns the situation at a line of output.
func (s *situation) at(l *lines, i int) string {
	read := &l.read[i]
	words := []string{kindOf(read)}
	for _, w := range []struct {
		word string
		is   bool
	}{
		{"turn", s.turn}, {"tool", len(s.tools) > 0}, {"asked", len(s.asked) > 0}, {"called", len(s.called) > 0}, {"stopping", s.stopping},
		{"sub-agent", read.Agent != ""}, {"resumed", l.wire[i].Process > 1},
		{"waits", i+1 < len(l.wire) && l.wire[i+1].Dir != fixtures.Out}, // it is the last line before a step of the client
	} {
		if w.is {
			words = append(words, w.word)
		}
	}
	return strings.Join(words, " ")
}

// add adds a line to what is open.
func (s *situation) add(l *lines, i int) {
	read, in := &l.read[i], l.wire[i].Dir == fixtures.In
	switch read.Kind {
	case wire.TurnStart:
		s.turn = true
	case wire.TurnEnd:
		s.turn, s.stopping, s.after = false, false, ""
	case wire.Stop:
		s.stopping = s.stopping || in
	}
	for _, t := range read.Tools {
		setOpen(&s.tools, t.ID, !t.Ends)
	}
	if k := kindOf(read); s.unusual[k] {
		s.after = k
	}
	opened, closed := &s.asked, &s.called
	if in {
		opened, closed = closed, opened
	}
	if len(read.ID) > 0 && (in || read.Kind == wire.Request) {
		setOpen(opened, string(read.ID), true)
	}
	if len(read.RepliesTo) > 0 {
		setOpen(closed, string(read.RepliesTo), false)
	}
}

func setOpen(set *map[string]bool, id string, open bool) {
	if *set == nil {
		*set = map[string]bool{}
	}
	if open {
		(*set)[id] = true
	} else {
		delete(*set, id)
	}
}
