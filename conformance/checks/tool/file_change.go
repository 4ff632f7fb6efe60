package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
)

// FileChange is the check tool.file-change.
var FileChange = &conformance.Check{
	ID: "tool.file-change", Source: "wire/codex: fileChange", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_result.changes"},
	Needs:    []string{"tool_result.changes"},
	Sentence: "The result of a successful change of a file holds its path, its kind and the diff.",
	Judge:    judgeChanges,
}

func judgeChanges(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		if call.Hidden || call.Tool != "write" && call.Tool != "edit" && call.Tool != "notebook" {
			continue
		}
		for e, d := range runindex.EventsOf[event.ToolResult](t.Run) {
			if e.SubagentID != "" || !runindex.SameCall(d.ToolUseID, call.ID) || d.Status != event.ToolOK {
				continue
			}
			f.Asserted(1)
			if len(d.Changes) == 0 {
				f.At(e, "%s %s succeeded, but its result holds no change", call.Tool, call.ID)
			}
			for _, c := range d.Changes {
				if c.Path == "" || c.Kind == "" || c.Diff == "" && c.Kind != event.ChangeDelete && c.Kind != event.ChangeMove {
					f.At(e, "%s %s: the change of %q is %q, with a diff of %d bytes", call.Tool, call.ID, c.Path, c.Kind, len(c.Diff))
				}
			}
		}
	}
}
