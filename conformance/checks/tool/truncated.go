package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// Truncated is the check tool.truncated.
var Truncated = &conformance.Check{
	ID: "tool.truncated", Source: "wire/claude: persistedOutputPath; wire/other: truncated, in the results of OpenCode and Pi", Tiers: []conformance.Tier{conformance.TierWitness}, NeedsLines: true,
	Judges:   []string{"tool_result.truncated"},
	Needs:    []string{"tool_result.truncated"},
	Mend:     "Set truncated of tool_result if the runtime states that it cut the output, and only then.",
	Sentence: "tool_result states that its output was cut if the runtime states it, and only then.",
	Judge:    judgeTruncated,
}

func judgeTruncated(t *conformance.Trial, f *conformance.Finding) {
	for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
		stated := runindex.StatedResult(t.Run, e, d.ToolUseID)
		if stated == nil || e.SubagentID != "" {
			continue
		}
		if stated.Truncated == nil {
			if d.Truncated {
				f.At(e, "truncated is set, but the runtime does not state that it cut the output of %s", d.ToolUseID)
			}
			continue
		}
		cut := *stated.Truncated && d.Status != event.ToolInterrupted
		switch {
		case cut && !d.Truncated:
			runindex.Demand(t, f, e, "tool_result.truncated", false, "that it cut the output of "+d.ToolUseID)
		case d.Truncated && !*stated.Truncated:
			f.Asserted(1)
			f.At(e, "truncated is set, but the runtime states that the output of %s is whole", d.ToolUseID)
		case cut:
			f.Asserted(1)
		}
	}
}
