package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Paired is the check tool.paired.
var Paired = &conformance.Check{
	ID: "tool.paired", Source: "hermes-agent#114395", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_result", "tool_result.tool_use_id", "tool_start", "tool_start.tool_use_id", "tool_output.tool_use_id"},
	Needs:    []string{"tool_start", "tool_result"},
	NeedsFor: runindex.StreamNeeds,
	Mend:     "Keep a set of open calls. Emit tool_result only for an open call, and remove it then.",
	Sentence: "Each tool_start is followed by exactly one tool_result with the same id, and no other tool_result or tool_output appears.",
	Judge:    judgePaired,
}

func judgePaired(t *conformance.Trial, f *conformance.Finding) {
	for _, tool := range runindex.Of(t.Run).Tools() {
		starts, results := 0, 0
		for _, e := range tool.Events {
			switch e.Data.(type) {
			case event.ToolStart:
				f.Asserted(1)
				if starts++; starts > 1 {
					f.At(e, "tool %s starts twice", tool.ID)
				}
			case event.ToolOutput:
				f.Asserted(1)
				if starts == 0 {
					f.At(e, "tool_output of %s without a tool_start before it", tool.ID)
				}
			case event.ToolResult:
				switch results++; {
				case starts == 0:
					f.At(e, "tool_result of %s without a tool_start before it", tool.ID)
				case results > 1:
					f.At(e, "tool %s has a second tool_result", tool.ID)
				}
			}
		}
		if starts > 0 && results == 0 {
			f.Failf("tool %s has no tool_result", tool.ID)
		}
	}
}
