package tool

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Canonical is the check tool.canonical.
var Canonical = &conformance.Check{
	ID: "tool.canonical", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"tool_start.tool"},
	Needs:    []string{"tool_start.tool"},
	Mend:     "Map the runtime's names to the canonical ones in one table, and keep names that are not in it.",
	Sentence: "A call has the canonical name of what it does: Bash, Read, Write, Edit, Glob, Grep, WebSearch, WebFetch, mcp__server__tool.",
	Judge:    judgeCanonical,
}

// canonical lists the names that a scripted call may have.
var canonical = map[string][]string{
	"shell": {"Bash"},
	"read":  {"Read", "Bash"}, // a runtime may read by a command
	"write": {"Write", "Edit"},
	"edit":  {"Edit", "Write"},
	"web":   {"WebSearch", "WebFetch"},
}

// commandsAsReads are the names that a command may have beside Bash if the runtime shows what
// it reads and not the command.
var commandsAsReads = []string{"Read", "Grep", "Glob", "LS"}

// commandsHidden reports whether the wire shows what commands read, and not the commands.
func commandsHidden(r *conformance.Run) bool {
	return runindex.RecordedTool(r, func(t wire.Tool) bool { return t.AsReading })
}

func judgeCanonical(t *conformance.Trial, f *conformance.Finding) {
	asReads := commandsHidden(t.Run)
	for _, call := range runindex.Calls(t.Run) {
		want := canonical[call.Tool]
		if asReads && (call.Tool == "shell" || call.Tool == "read") {
			want = slices.Concat(want, commandsAsReads)
		}
		if call.Hidden || want == nil && call.Tool != "mcp" {
			continue
		}
		for _, e := range runindex.Of(t.Run).Starts(call) {
			f.Asserted(1)
			d, _ := e.Data.(event.ToolStart)
			if call.Tool == "mcp" {
				want = []string{serverTool(call)}
				d.Tool = asOffered.Replace(d.Tool)
			}
			if !slices.Contains(want, d.Tool) {
				f.At(e, "the call %s (%s) has the name %q, want %s", call.ID, call.Tool, d.Tool, strings.Join(want, " or "))
			}
		}
	}
}

// asOffered replaces the signs that runtimes replace in the names of MCP servers and of
// their tools: some in all names, some in what the model gets only.
var asOffered = strings.NewReplacer("-", "_", ".", "_")

// serverTool returns the name of the tool of a server that a call names.
func serverTool(call runindex.Call) string {
	var in struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
	}
	runindex.Decode(call.Input, &in)
	return asOffered.Replace("mcp__" + in.Server + "__" + in.Tool)
}
