package tool

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
)

// ReadDescribed is the check tool.read-described.
var ReadDescribed = &conformance.Check{
	ID: "tool.read-described", Source: "the scenario: what a command reads", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_start.file_path", "tool_start.pattern", "tool_start.search_path"},
	Needs:    []string{"tool_start.is_file_read", "tool_start.file_path", "tool_start.pattern", "tool_start.search_path"},
	Mend:     "Take the path and the pattern from what the runtime parsed of the command. If it parsed nothing, leave the fields empty.",
	Sentence: "A command that is marked as a file read names the first file that it reads, the first pattern that it searches for and the first path that it lists or searches.",
	Judge:    judgeReadDescribed,
}

func judgeReadDescribed(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range runindex.Calls(t.Run) {
		want := t.Scenario.Reading(call.ID)
		if want == nil || call.Hidden {
			continue
		}
		for _, e := range runindex.Of(t.Run).Starts(call) {
			d, _ := e.Data.(event.ToolStart)
			if !d.IsFileRead {
				continue // a command may be marked, and need not
			}
			f.Asserted(1)
			// A file that is searched may be called either.
			paths := []string{want.File, want.Path}
			switch {
			case d.Pattern != want.Pattern:
				f.At(e, "%s %s has the pattern %q, want %q", d.Tool, call.ID, d.Pattern, want.Pattern)
			case !namesOneOf(d.FilePath, paths) || !namesOneOf(d.SearchPath, paths):
				f.At(e, "%s %s has the file_path %q and the search_path %q, want %q", d.Tool, call.ID, d.FilePath, d.SearchPath, strings.Join(paths, ""))
			case d.FilePath+d.SearchPath == "" && want.File+want.Path != "":
				f.At(e, "%s %s names no file and no path, want %q", d.Tool, call.ID, want.File+want.Path)
			}
		}
	}
}

// namesOneOf reports whether a path is "" or one of these. It may be absolute.
func namesOneOf(got string, paths []string) bool {
	return got == "" || slices.ContainsFunc(paths, func(p string) bool { return p != "" && (got == p || strings.HasSuffix(got, "/"+p)) })
}
