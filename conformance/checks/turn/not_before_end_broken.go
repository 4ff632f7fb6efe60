package turn

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var endsWithTheWords = broken.Adapter{
	Name: "ends-with-the-words", Sentence: "takes the end of a text block for the end of the turn",
	Fails: []string{"component.remove", "component.state", "component.tool-linked", "component.update", "permission.asked", "permission.decline-is-not-cancel", "permission.deny-enforced", "permission.resolved", "permission.unsupported-request", "question.answered", "replay.components", "replay.tool-linked", "subagent.background", "text.once", "time.no-added-delay", "tool.input-streamed", "tool.known", "tool.progress", "turn.compaction", "turn.crash-ends", "turn.end-stated", "turn.lost-end", "turn.not-before-end", "turn.queued", "turn.refused", "turn.slow-continues", "turn.stall-ends", "usage.reported", "wire.garbage", "wire.unknown", "wire.valid-input"},
	Only:  map[string]string{"permission.deny-enforced": "claude", "turn.queued": "codex", "turn.refused": "claude", "turn.slow-continues": "claude", "tool.input-streamed": "claude", "tool.progress": "claude"},
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
