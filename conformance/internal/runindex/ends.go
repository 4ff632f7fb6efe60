package runindex

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// TurnEnd is the end of a turn of the main agent: its terminal event, and what the
// runtime states there.
type TurnEnd struct {
	conformance.Event
	wire.Statement
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
	if n < len(out) {
		return nil
	}
	return out
}
