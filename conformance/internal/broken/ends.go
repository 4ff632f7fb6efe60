package broken

import (
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// bounds are broken in where things begin and end.
func bounds() []Adapter {
	return []Adapter{
		{
			Name: "ends-with-the-words", Sentence: "takes the end of a text for the end of the turn",
			Fails: []string{"component.remove", "component.tool-linked", "component.update", "permission.asked", "permission.decline-is-not-cancel", "permission.resolved", "permission.unsupported-request", "question.answered", "replay.components", "subagent.background", "text.once", "time.no-added-delay", "tool.known", "turn.crash-ends", "turn.not-before-end", "turn.queued", "turn.refused", "turn.slow-lives", "turn.stall-ends", "usage.told", "wire.garbage", "wire.own-lines", "wire.unknown"},
			Only:  map[string]string{"permission.decline-is-not-cancel": "codex", "turn.queued": "codex", "turn.refused": "claude", "turn.slow-lives": "claude"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				ended := 0
				return func(e event.Event, out func(event.Event)) {
					if e.Turn > 0 && e.Turn == ended && e.SubagentID == "" {
						return
					}
					out(e)
					if d, ok := e.Data.(event.BlockEnd); ok && d.Status == event.BlockComplete && e.SubagentID == "" {
						ended = e.Turn
						e.Data = event.Done{}
						out(e)
					}
				}
			}},
		},
		{
			Name: "loses-the-end", Sentence: "does not tell that a turn has ended well",
			Fails: []string{"process.exit-code", "turn.crash-ends", "turn.one-terminal", "turn.stall-ends"},
			Only:  map[string]string{"turn.stall-ends": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Done); !ok || d.Stopped {
					out(e)
				}
			}),
		},
		{
			Name: "hangs-when-it-cannot-start", Sentence: "waits for ever when the runtime does not start",
			Fails:    []string{"permission.unsupported-request", "process.start-failure", "session.gives-up", "session.resume-unknown", "session.returns", "turn.crash-ends", "turn.nothing-after-terminal", "turn.refused", "turn.stall-ends", "wire.garbage", "wire.long-line", "wire.no-own-echo", "wire.same-chunk", "wire.split", "wire.stderr", "wire.unknown"},
			Only:     map[string]string{"turn.nothing-after-terminal": "claude", "wire.no-own-echo": "codex"},
			mutation: mutation{failed: func(error) error { select {} }},
		},
		{
			Name: "fails-well", Sentence: "ends a turn that failed like one that went well",
			Fails: []string{"turn.error-is-error", "turn.lost-end", "turn.refused"},
			Only:  map[string]string{"turn.lost-end": "claude", "turn.refused": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Error); ok && d.Code != event.ErrorCrash && d.Code != event.ErrorTimeout {
					e.Data = event.Done{}
				}
				out(e)
			}),
		},
		{
			Name: "gives-up-at-a-retry", Sentence: "takes the notice of a retry for an error",
			Fails: []string{"turn.nothing-after-terminal", "turn.one-terminal", "turn.retry-is-not-error"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Notice); ok && d.Code == event.NoticeRetry {
					e.Data = event.Error{Code: event.ErrorNetwork, Message: "the connection broke"}
				}
				out(e)
			}),
		},
		{
			Name: "looks-dead", Sentence: "says nothing at the start of a turn",
			Fails: []string{"turn.activity-first"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Thinking); !ok || d.Text != "" || d.Done {
					out(e)
				}
			}),
		},
		{
			Name: "hears-its-own-echo", Sentence: "tells a message when it is sent and when the runtime repeats it",
			Fails: []string{"turn.queued", "wire.no-own-echo"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if e.Type() == event.TypeUserMessage {
					out(e)
				}
			}),
		},
		{
			Name: "says-thoughts", Sentence: "tells reasoning as text",
			Fails: []string{"text.not-thinking", "text.once", "thinking.delivered", "turn.crash-ends", "turn.stall-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Thinking); ok && d.Text != "" {
					e.Data = event.Delta{Text: d.Text, MessageID: "thoughts", BlockID: "thoughts"}
				}
				out(e)
			}),
		},
		{
			Name: "thinks-for-ever", Sentence: "does not tell when reasoning is over",
			Fails: []string{"thinking.closed", "turn.crash-ends"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Thinking); !ok || !d.Done || d.Text != "" {
					out(e)
				}
			}),
		},
		{
			Name: "thinks-blank", Sentence: "makes a bubble of reasoning that has no words",
			Fails: []string{"thinking.delivered", "thinking.hidden", "turn.stall-ends"},
			Only:  map[string]string{"turn.stall-ends": "codex"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				out(e)
				if d, ok := e.Data.(event.Thinking); ok && d.Text == "" && !d.Done {
					e.Data = event.Thinking{Text: "\n", BlockID: "blank"}
					out(e)
					e.Data = event.Thinking{Done: true, BlockID: "blank"}
					out(e)
				}
			}),
		},
		{
			Name: "sums-up", Sentence: "gives a result of its own words",
			Fails: []string{"text.result"},
			mutation: each(func(e event.Event, out func(event.Event)) {
				if d, ok := e.Data.(event.Result); ok && d.Text != "" {
					d.Text = "The turn went well: " + strings.ToUpper(d.Text)
					e.Data = d
				}
				out(e)
			}),
		},
		{
			Name: "runs-its-clock-back", Sentence: "takes the time from a clock that is set back",
			Fails: []string{"order.ts"},
			mutation: mutation{events: func() func(event.Event, func(event.Event)) {
				back := time.Duration(0)
				return func(e event.Event, out func(event.Event)) {
					back += time.Minute
					e.TS = e.TS.Add(-back)
					out(e)
				}
			}},
		},
	}
}
