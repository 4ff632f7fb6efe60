package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// Interrupted is the check tool.interrupted.
var Interrupted = &conformance.Check{
	ID: "tool.interrupted", Source: "chats in which the spinner of a tool never ends", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_result", "tool_result.tool_use_id", "tool_start.tool_use_id"},
	Needs:    []string{"tool_start", "tool_result", "tool_result.status"},
	Mend:     "At the end of a turn emit a tool_result with status interrupted for each call without a result, or backgrounded if it continues.",
	Sentence: "No tool call is open after its turn has ended.",
	Judge:    judgeOpenTools,
}

func judgeOpenTools(t *conformance.Trial, f *conformance.Finding) {
	open := map[string]int{} // main agent's calls → turn
	for _, e := range t.Events {
		if e.SubagentID != "" {
			continue
		}
		switch d := e.Data.(type) {
		case event.ToolStart:
			f.Asserted(1)
			open[d.ToolUseID] = e.Turn
		case event.ToolResult:
			delete(open, d.ToolUseID)
		}
		if !e.Terminal() || e.Turn == 0 {
			continue
		}
		for id, turn := range open {
			if turn == e.Turn {
				f.At(e, "turn %d ends, but tool %s is still open", turn, id)
			}
		}
	}
}
