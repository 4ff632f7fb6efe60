package tool

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
)

// Fields is the check tool.fields.
var Fields = &conformance.Check{
	ID: "tool.fields", Source: "user interfaces that show a call in one line", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Needs:    []string{"tool_start.input", "tool_start.command"},
	Sentence: "tool_start holds file_path and command if the call has them.",
	Judge:    judgeFields,
}

func judgeFields(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		var in runindex.Input
		if call.Hidden || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		for _, e := range runindex.Of(t.Run).Starts(call) {
			d, _ := e.Data.(event.ToolStart)
			missing := ""
			switch {
			case d.Tool == "Bash" && in.Command != "":
				if d.Command == "" {
					missing = "command"
				}
			case slices.Contains([]string{"Read", "Write", "Edit"}, d.Tool) && in.Path != "":
				if d.FilePath == "" {
					missing = "file_path"
				}
			default:
				continue
			}
			f.Asserted(1)
			if missing != "" {
				f.At(e, "%s %s has no %s", d.Tool, d.ToolUseID, missing)
			}
		}
	}
}
