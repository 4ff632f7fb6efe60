package subagent

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Attributed is the check subagent.attributed.
var Attributed = &conformance.Check{
	ID: "subagent.attributed", Source: "wire/codex: child threads; chats that flatten sub-agents", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"subagent_id"},
	Needs:    []string{"subagent_id"},
	Mend:     "Read the parent id (`parent_tool_use_id`, or the child's thread id) of each line, and set subagent_id for those of a sub-agent only.",
	Sentence: "The tool calls of a sub-agent have its subagent_id, and those of the parent have none.",
	Judge:    judgeAttributed,
}

func judgeAttributed(t *conformance.Trial, f *conformance.Finding) {
	for e, d := range runindex.EventsOf[event.ToolStart](t.Run) {
		main, sub := false, false
		for _, q := range t.Witness {
			for _, s := range q.Output {
				if s.Tool != "" && runindex.SameCall(t.Run, d.ToolUseID, s.ID) && !runindex.NoAgent(q.Agent) {
					main, sub = main || q.Agent == "", sub || q.Agent != ""
				}
			}
		}
		if len(runindex.Subagents(t.Run)) == 0 || main == sub {
			continue // the id is of no agent's call, or of both
		}
		f.Asserted(1)
		if sub != (e.SubagentID != "") {
			f.At(e, "tool %s has subagent_id %q, and a sub-agent called it: %v", d.ToolUseID, e.SubagentID, sub)
		}
	}
}
