package tool

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// Known is the check tool.known.
var Known = &conformance.Check{
	ID: "tool.known", Source: "the event contract (adapters/event)", Tiers: []conformance.Tier{conformance.TierWitness, conformance.TierLive},
	Judges:   []string{"interrupt", "tool_start", "tool_start.command", "tool_start.input", "tool_start.tool_use_id"},
	Needs:    []string{"tool_start", "tool_start.tool_use_id", "tool_start.input"},
	NeedsFor: knownNeeds,
	Mend:     "Emit tool_start once for each call, with the id, name and complete input of the runtime. Do not emit it for items that are no calls.",
	Sentence: "Each tool call of the model appears as one tool_start with its id and name; its input holds what the model gave, unless the scenario states that the wire hides it; no other call appears.",
	Judge:    judgeKnown,
}

// knownNeeds is what tool.known needs of a run.
func knownNeeds(r *conformance.Run) []string {
	out := runindex.StreamNeeds(r)
	if slices.ContainsFunc(runindex.Calls(r), func(t runindex.Call) bool { return t.Tool == "todo" }) {
		out = append(out, "tool_start.of_a_plan") // an agent may emit the plan in place of its calls
	}
	return out
}

func judgeKnown(t *conformance.Trial, f *conformance.Finding) {
	judgeInvented(t, f)
	for _, call := range runindex.Calls(t.Run) {
		starts := runindex.Of(t.Run).Starts(call)
		if call.Hidden {
			continue
		}
		f.Asserted(1)
		if len(starts) == 0 && call.Tool == "ask" && runindex.AskedBeforeClose(t.Run) > 0 {
			continue // some runtimes put the question in place of the call
		}
		if len(starts) == 0 && call.Tool == "other" && askedAbout(t.Run, call.ID) {
			continue // as a call for more rights, which is a question and nothing else
		}
		if len(starts) != 1 {
			f.Failf("the model called %s %s once, but %d tool_start have its id", call.Tool, call.ID, len(starts))
			continue
		}
		d, _ := starts[0].Data.(event.ToolStart)
		if d.Tool == "" {
			f.At(starts[0], "tool %s has no name", call.ID)
		}
		judgeInput(t.Run, call, d, starts[0], f)
	}
}

// fromScript reports whether the model called a command from within a script, as
// some models do: the runtime gives such a call another id.
func fromScript(s fixtures.OutputPart, d event.ToolStart) bool {
	var in struct {
		Script string `json:"script"`
	}
	if s.Tool != "other" || json.Unmarshal(s.Input, &in) != nil {
		return false
	}
	if d.Command != "" {
		return strings.Contains(in.Script, d.Command)
	}
	var input any
	return runindex.Decode(d.Input, &input) && commandIn(input, in.Script)
}

// commandIn reports whether a member "command" somewhere in a JSON value is part of a
// script.
func commandIn(v any, script string) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return commandIn(x, script) })
	case map[string]any:
		for name, x := range v {
			if text, ok := x.(string); ok && name == "command" && text != "" && strings.Contains(script, text) || commandIn(x, script) {
				return true
			}
		}
	}
	return false
}

// askedAbout reports whether a question names the call.
func askedAbout(r *conformance.Run, call string) bool {
	return slices.ContainsFunc(r.Events, func(e conformance.Event) bool {
		d, ok := e.Data.(event.PermissionRequest)
		return ok && runindex.SameCall(r, d.ToolUseID, call)
	})
}

// judgeInvented reports tool calls that the model never made, not even in a reply that
// was abandoned.
func judgeInvented(t *conformance.Trial, f *conformance.Finding) {
	for e, d := range runindex.EventsOf[event.ToolStart](t.Run) {
		if e.SubagentID != "" {
			continue
		}
		known := false
		for _, q := range t.Witness {
			for _, s := range q.Output {
				known = known || s.Tool != "" && (runindex.SameCall(t.Run, d.ToolUseID, s.ID) || fromScript(s, d))
			}
		}
		if !known {
			f.Asserted(1)
			f.At(e, "tool %q starts, but the model made no such call", d.ToolUseID)
		}
	}
}

func judgeInput(r *conformance.Run, call runindex.Call, d event.ToolStart, at conformance.Event, f *conformance.Finding) {
	var in runindex.Input
	if json.Unmarshal(call.Input, &in) != nil {
		return
	}
	switch call.Tool {
	case "shell":
		if d.Command == "" && slices.Contains(commandsAsReads, d.Tool) && commandsHidden(r) {
			return // canonical.go judges the name
		}
		if r.Supports("tool_start.command") && !strings.Contains(d.Command, in.Command) {
			f.At(at, "tool %s: command is %q, the model gave %q", call.ID, d.Command, in.Command)
		}
	case "read", "write", "edit":
		if in.Path != "" && d.FilePath != in.Path && !strings.HasSuffix(d.FilePath, "/"+in.Path) && !runindex.Holds(d.Input, in.Path) {
			f.At(at, "tool %s: neither file_path %q nor the input names %q", call.ID, d.FilePath, in.Path)
		}
	}
	if showsFilesOnly(r) && (call.Tool == "write" || call.Tool == "edit" || call.Tool == "patch") {
		return
	}
	// A tool that reads may be reported as the command that the runtime ran for it.
	for _, text := range in.Texts() {
		if !runindex.Holds(d.Input, text) && !holdsLines(d.Input, text) {
			f.At(at, "tool %s: the input %s does not hold %q", call.ID, runindex.Clip(string(d.Input)), text)
		}
	}
}

// holdsLines reports whether an input holds each line of a text. The lines of a diff have
// a sign in front.
func holdsLines(input event.Raw, text string) bool {
	for line := range strings.Lines(text) {
		if !runindex.Holds(input, strings.TrimRight(line, "\n")) {
			return false
		}
	}
	return true
}
