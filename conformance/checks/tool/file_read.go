package tool

import (
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks/runindex"
)

// FileRead is the check tool.file-read.
var FileRead = &conformance.Check{
	ID: "tool.file-read", Source: "wire/codex: commandActions", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_start.is_file_read"},
	Needs:    []string{"tool_start.is_file_read"},
	Sentence: "A call that only reads a file is marked as a file read, and a call that writes or runs something is not.",
	Judge:    judgeFileRead,
}

func judgeFileRead(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		if call.Hidden {
			continue
		}
		for _, e := range runindex.Of(t.Run).Starts(call) {
			d, _ := e.Data.(event.ToolStart)
			switch {
			case call.Tool == "read" || d.Tool == "Read":
				f.Asserted(1)
				if !d.IsFileRead {
					f.At(e, "%s %s reads a file, but is not marked as a file read", d.Tool, call.ID)
				}
			case call.Tool == "write" || call.Tool == "edit":
				f.Asserted(1)
				if d.IsFileRead {
					f.At(e, "%s %s writes a file, but is marked as a file read", d.Tool, call.ID)
				}
			}
		}
	}
}
