package broken

import (
	"context"
	"time"

	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/adapters/event"
)

// holding makes a mutation that keeps the events which hold picks until the
// next one comes.
func holding(hold func(e event.Event) bool) mutation {
	return mutation{events: func() func(event.Event, func(event.Event)) {
		var kept []event.Event
		return func(e event.Event, out func(event.Event)) {
			for _, k := range kept {
				out(k)
			}
			kept = nil
			if hold(e) {
				kept = append(kept, e)
				return
			}
			out(e)
		}
	}}
}

// delays are broken in when they speak.
func delays() []Adapter {
	late := perform.EndLimit + time.Second
	return []Adapter{
		{
			Name: "coalesces", Sentence: "joins two deltas into one event",
			Fails: []string{"permission.unsupported-request", "time.first-delta", "time.no-added-delay", "tool.parallel", "turn.crash-ends", "turn.stall-ends", "wire.garbage", "wire.long-line", "wire.unknown"},
			Only:  map[string]string{"permission.unsupported-request": "claude", "tool.parallel": "claude", "wire.long-line": "claude"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				var kept *event.Event
				return func(e event.Event, out func(event.Event)) {
					d, is := e.Data.(event.Delta)
					switch {
					case is && kept == nil:
						kept = &e
						return
					case is && kept.Data.(event.Delta).BlockID == d.BlockID:
						e.Data = event.Delta{Text: kept.Data.(event.Delta).Text + d.Text, MessageID: d.MessageID, BlockID: d.BlockID}
					case kept != nil:
						out(*kept)
					}
					kept = nil
					out(e)
				}
			}},
		},
		{
			Name: "holds-the-first-delta", Sentence: "holds the first delta of a turn back until the next event comes",
			Fails: []string{"time.first-delta", "time.no-added-delay", "turn.crash-ends", "turn.stall-ends"},
			Only:  map[string]string{"turn.stall-ends": "claude"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				turn := 0
				return holding(func(e event.Event) bool {
					first := e.Type() == event.TypeDelta && e.Turn != turn
					if first {
						turn = e.Turn
					}
					return first
				}).events()
			}},
		},
		{
			Name: "delays-tools", Sentence: "tells a tool event when the next event comes",
			Fails: []string{"time.no-added-delay", "turn.crash-ends", "turn.stall-ends"},
			mutation: holding(func(e event.Event) bool {
				return e.Type() == event.TypeToolStart || e.Type() == event.TypeToolResult
			}),
		},
		{
			Name: "delays-thinking", Sentence: "tells a piece of thinking when the next one comes",
			Fails: []string{"time.no-added-delay", "turn.crash-ends", "turn.stall-ends"},
			mutation: holding(func(e event.Event) bool {
				d, ok := e.Data.(event.Thinking)
				return ok && d.Text != ""
			}),
		},
		{
			Name: "ends-late", Sentence: "ends a turn when the runtime speaks again",
			Fails:    []string{"time.no-added-delay", "turn.crash-ends", "turn.lost-end", "turn.stall-ends"},
			Only:     map[string]string{"turn.lost-end": "claude", "turn.crash-ends": "claude"}, // it speaks between the end and the exit
			mutation: holding(event.Event.Terminal),
		},
		{
			Name: "stops-slowly", Sentence: "tells long after that a turn was stopped",
			Fails: []string{"permission.unsupported-request", "session.idle-lives", "time.no-added-delay", "turn.crash-ends", "turn.stall-ends", "turn.stop"},
			Only:  map[string]string{"permission.unsupported-request": "codex", "turn.crash-ends": "claude", "turn.stall-ends": "claude"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Done); ok && d.Stopped {
					time.Sleep(late)
				}
				out(e)
			}),
		},
		{
			Name: "takes-thought-for-death", Sentence: "ends a turn in which nothing came for three minutes",
			Fails: []string{"turn.slow-lives"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				var last event.Event
				dead := 0
				return func(e event.Event, out func(event.Event)) {
					if last.Turn > 0 && e.Turn == last.Turn && e.Turn != dead && e.TS.Sub(last.TS) > 3*time.Minute {
						dead = e.Turn
						out(event.Event{Data: event.Error{Code: event.ErrorTimeout, Message: "silence"}, TS: e.TS, SessionID: e.SessionID, Turn: e.Turn})
					}
					if last = e; e.Turn == 0 || e.Turn != dead {
						out(e)
					}
				}
			}},
		},
		{
			Name: "never-returns-from-send", Sentence: "waits in Send for ever",
			// Nothing is done after that, so that all that asks for what was not said
			// fails too.
			Fails: []string{"component.remove", "component.tool-linked", "component.update", "permission.answered-once", "permission.asked", "permission.deny-holds", "permission.resolved", "permission.unsupported-request", "policy.fail-closed", "policy.no-bypass", "policy.table", "process.exit-code", "question.answered", "replay.components", "session.ended-refuses", "session.gives-up", "session.resume-context", "session.returns", "subagent.background", "subagent.parallel", "text.once", "thinking.delivered", "tool.client-called", "tool.client-offered", "tool.known", "turn.crash-ends", "turn.lost-end", "turn.one-terminal", "turn.refused", "turn.stall-ends", "turn.unprompted", "usage.told", "wire.garbage", "wire.long-line", "wire.same-chunk", "wire.split", "wire.stderr", "wire.unknown"},
			// Codex begins no turn by itself, and is offered tools before a message.
			Only:     map[string]string{"permission.unsupported-request": "claude", "turn.unprompted": "claude", "tool.client-offered": "claude"},
			mutation: mutation{send: func(context.Context) { select {} }},
		},
		{
			Name: "panics-in-close", Sentence: "panics in Close",
			// Close is followed by a resume in one case.
			Fails:    []string{"session.close-unheard", "session.ended-refuses", "session.resume-context", "session.returns", "text.once", "turn.lost-end", "turn.refused", "turn.stall-ends"},
			mutation: mutation{close: func() { panic("close of closed channel") }},
		},
	}
}
