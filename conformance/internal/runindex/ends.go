package runindex

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// TurnEnd is the end of a turn of the main agent: its terminal event, and what the
// runtime states there.
type TurnEnd struct {
	conformance.Event
	wire.Statement
	Closed bool // the client closed the session, and the runtime stated no end
}

// TurnEnds pairs the terminal events of turns with the ends that the runtime states,
// in order. It returns none if a turn ended because its process exited, or if their numbers
// differ because a turn ended in another way.
func TurnEnds(r *conformance.Run) []TurnEnd {
	var out []TurnEnd
	for _, e := range r.Events {
		if e.Terminal() && e.Turn > 0 && e.SubagentID == "" {
			if d, ok := e.Data.(event.Error); ok && d.Code == event.ErrorCrash {
				return nil
			}
			out = append(out, TurnEnd{Event: e})
		}
	}
	n := 0
	for _, s := range StatementsOf(r) {
		if s.End == "" {
			continue
		}
		if n == len(out) {
			return nil
		}
		out[n].Statement = s
		n++
	}
	switch {
	case n == len(out):
		return out
	case n == len(out)-1 && closedBefore(r, out[n].Event):
		out[n].Closed = true
		return out
	}
	return nil
}

// closedBefore reports whether the last step before an event closes the session.
func closedBefore(r *conformance.Run, e conformance.Event) bool {
	return e.Steps > 0 && e.Steps <= len(r.Steps) && r.Steps[e.Steps-1].Step.Verb == fixtures.VerbClose
}
