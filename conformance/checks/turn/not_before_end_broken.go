package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithTheWords = broken.Adapter{
	Name: "ends-with-the-words", Sentence: "takes the end of a text block for the end of the turn",
	Fails: []string{"component.remove", "component.tool-linked", "replay.tool-linked", "component.update", "permission.asked", "permission.decline-is-not-cancel", "permission.resolved", "permission.unsupported-request", "question.answered", "replay.components", "subagent.background", "text.once", "time.no-added-delay", "tool.known", "turn.crash-ends", "turn.not-before-end", "turn.queued", "turn.refused", "turn.slow-continues", "turn.stall-ends", "usage.reported", "wire.garbage", "wire.valid-input", "wire.unknown"},
	Only:  map[string]string{"permission.decline-is-not-cancel": "codex", "turn.queued": "codex", "turn.refused": "claude", "turn.slow-continues": "claude"},
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
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
}
