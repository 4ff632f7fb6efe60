package fault

import (
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Situations returns what the runtime was doing at each line of the wire of a case: the kind
// of the line, and what was open before it, such as "stream_event/text turn tool". To an
// adapter, a fault is much the same wherever the situation is. It is "" for a line that the
// runtime did not write.
func Situations(c *fixtures.Case) []string {
	l := linesOf(c)
	out := make([]string, len(l.wire))
	var s situation
	for i := range l.wire {
		if l.wire[i].Dir == fixtures.Out {
			out[i] = s.at(l, i)
		}
		s.add(l, i)
	}
	return out
}

// situation is what is open in a session.
type situation struct {
	turn     bool
	tools    map[string]bool // by the id of the call
	asked    map[string]bool // requests of the runtime, by id
	called   map[string]bool // requests of the client, by id
	stopping bool
}

// at returns the situation at a line of output.
func (s *situation) at(l *lines, i int) string {
	read := &l.read[i]
	words := []string{read.Name}
	switch {
	case read.Kind == wire.Delta:
		words[0] = "delta " + string(read.Piece.Kind)
	case read.Name == "":
		words[0] = "reply"
	}
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
		s.turn, s.stopping = false, false
	case wire.Stop:
		s.stopping = s.stopping || in
	}
	for _, t := range read.Tools {
		setOpen(&s.tools, t.ID, !t.Ends)
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
