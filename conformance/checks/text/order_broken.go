package text

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/internal/broken"
)

var swapsDeltas = broken.Adapter{
	Name: "swaps-deltas", Sentence: "emits two deltas in the wrong order",
	Fails: []string{"order.ts", "permission.unsupported-request", "subagent.parallel", "text.block-end", "text.order", "text.result", "time.backlog", "time.first-delta", "time.no-added-delay", "tool.parallel", "turn.after-stop", "turn.crash-ends", "turn.stall-ends", "wire.garbage", "wire.long-line", "wire.unknown"},
	Only:  map[string]string{"subagent.parallel": "codex", "tool.parallel": "claude", "wire.long-line": "claude"}, // Claude Code reports a sub-agent's text whole
	Mutation: broken.Mutation{Events: func() func(event.Event, func(event.Event)) {
		var kept []event.Event
		return func(e event.Event, out func(event.Event)) {
			if e.Type() == event.TypeDelta && len(kept) == 0 {
				kept = append(kept, e)
				return
			}
			out(e)
			for _, k := range kept {
				out(k)
			}
			kept = nil
		}
	}},
}
