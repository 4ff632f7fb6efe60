package replay

import (
	"testing"

	"github.com/turnspec/turnspec/adapters/event"
)

// TestFiguresCountTheTurn lets two turns use 10 and 5 tokens, reported in each scope.
func TestFiguresCountTheTurn(t *testing.T) {
	usage := func(turn int, scope event.Scope, input int64) event.Event {
		return inTurn(turn, event.Usage{Scope: scope, Tokens: event.Tokens{Input: input}})
	}
	for name, c := range map[string]struct {
		ready event.SessionReady
		used  []event.Event
		want  [2]int64 // -1: not known
	}{
		"turn":         {event.SessionReady{}, []event.Event{usage(1, event.ScopeTurn, 4), usage(1, event.ScopeTurn, 10), usage(2, event.ScopeTurn, 5)}, [2]int64{10, 5}},
		"session":      {event.SessionReady{}, []event.Event{usage(1, event.ScopeSession, 4), usage(1, event.ScopeSession, 10), usage(2, event.ScopeSession, 15)}, [2]int64{10, 5}},
		"request":      {event.SessionReady{}, []event.Event{usage(1, event.ScopeRequest, 4), usage(1, event.ScopeRequest, 6), usage(2, event.ScopeRequest, 5)}, [2]int64{10, 5}},
		"none":         {event.SessionReady{}, []event.Event{usage(1, "", 10), usage(2, "", 15)}, [2]int64{10, 15}},
		"resumed":      {event.SessionReady{Resumed: true}, []event.Event{usage(1, event.ScopeSession, 110), usage(2, event.ScopeSession, 115)}, [2]int64{-1, 5}},
		"taken back":   {event.SessionReady{}, []event.Event{usage(1, event.ScopeSession, 10), usage(2, event.ScopeSession, 5)}, [2]int64{10, -1}},
		"resumed turn": {event.SessionReady{Resumed: true}, []event.Event{usage(1, event.ScopeTurn, 10), usage(2, event.ScopeTurn, 5)}, [2]int64{10, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			parts := []any{inTurn(0, c.ready)}
			for turn := range 2 {
				if turn == 1 && name == "taken back" {
					parts = append(parts, inTurn(0, event.Checkpoint{CheckpointID: "m1", Action: event.CheckpointRestored}))
				}
				parts = append(parts, inTurn(turn+1, event.TurnStart{Cause: event.CauseUser}), inTurn(turn+1, event.Delta{Text: "x", BlockID: "b"}))
				for _, e := range c.used {
					if e.Turn == turn+1 {
						parts = append(parts, e)
					}
				}
				parts = append(parts, inTurn(turn+1, event.Done{}))
			}
			chat := Reduce(numbered(parts...))
			for turn, want := range c.want {
				got := int64(-1)
				if k := chat.Stats(turn + 1).Figures.Tokens; k != nil {
					got = k.Input
				}
				if got != want {
					t.Errorf("turn %d used %d tokens, want %d", turn+1, got, want)
				}
			}
		})
	}
}
