package checks

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

func toolChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "tool.known", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "Each tool call of the model appears as one tool_start with its id and name; its input holds what the model gave, unless the scenario states that the wire hides it; no other call appears.",
			Judge:    judgeKnown,
		},
		{
			ID: "tool.paired", Severity: conformance.Must, Source: "hermes-agent#114395", Tiers: both,
			Sentence: "Each tool_start gets exactly one tool_result with the same id, after it; none is invented.",
			Judge:    judgePaired,
		},
		{
			ID: "tool.output", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "What tool_result carries is contained in what the runtime sent back to the model, trailing newlines aside; error flag and exit code agree.",
			Judge:    judgeOutput,
		},
		{
			ID: "tool.web-search", Severity: conformance.Must, Source: "wire/codex: a webSearch item starts with an empty query", Tiers: both,
			Sentence: "A search of the web whose tool_start does not hold the query gets it with its tool_result, and is not left running.",
			Judge:    judgeSearch,
		},
	}
}

func judgeKnown(t *conformance.Trial, f *conformance.Finding) {
	judgeInvented(t, f)
	for _, call := range saidTools(t.Run) {
		var starts []conformance.Event
		for _, e := range t.Events {
			if d, ok := e.Data.(event.ToolStart); ok && e.SubagentID == "" && isTool(d.ToolUseID, call.ID) {
				starts = append(starts, e)
			}
		}
		if call.hidden {
			continue
		}
		f.Asserted(1)
		if len(starts) == 0 && call.Tool == "ask" && asked(t.Run) > 0 {
			continue // some runtimes put the question in place of the call
		}
		if len(starts) == 0 && call.Tool == "other" && askedAbout(t.Run, call.ID) {
			continue // as a call for more rights, which is a question and nothing else
		}
		if len(starts) != 1 {
			f.Failf("the model called %s %s; there are %d tool_start with its id", call.Tool, call.ID, len(starts))
			continue
		}
		d, _ := starts[0].Data.(event.ToolStart)
		if d.Tool == "" {
			f.At(starts[0], "tool %s has no name", call.ID)
		}
		judgeInput(call, d, starts[0], f)
	}
}

// fromScript reports whether the model called a command from within a script, as
// some models do: the runtime gives such a call an id of its own.
func fromScript(s fixtures.Said, d event.ToolStart) bool {
	var in struct {
		Script string `json:"script"`
	}
	return s.Tool == "other" && d.Command != "" && json.Unmarshal(s.Input, &in) == nil && strings.Contains(in.Script, d.Command)
}

// askedAbout reports whether a question names the call.
func askedAbout(r *conformance.Run, call string) bool {
	return slices.ContainsFunc(r.Events, func(e conformance.Event) bool {
		d, ok := e.Data.(event.PermissionRequest)
		return ok && isTool(d.ToolUseID, call)
	})
}

// judgeInvented: a call that the model never made, not even in a reply that was
// abandoned, is invented.
func judgeInvented(t *conformance.Trial, f *conformance.Finding) {
	for _, e := range t.Events {
		d, ok := e.Data.(event.ToolStart)
		if !ok || e.SubagentID != "" {
			continue
		}
		known := false
		for _, q := range t.Witness {
			for _, s := range q.Said {
				known = known || s.Tool != "" && (isTool(d.ToolUseID, s.ID) || fromScript(s, d))
			}
		}
		if !known {
			f.Asserted(1)
			f.At(e, "tool %q starts, and the model made no such call", d.ToolUseID)
		}
	}
}

func judgeInput(call saidTool, d event.ToolStart, at conformance.Event, f *conformance.Finding) {
	var in scripted
	if json.Unmarshal(call.Input, &in) != nil {
		return
	}
	switch call.Tool {
	case "shell":
		if !strings.Contains(d.Command, in.Command) {
			f.At(at, "tool %s: command is %q, the model gave %q", call.ID, d.Command, in.Command)
		}
	case "read", "write", "edit":
		if in.Path != "" && d.FilePath != in.Path && !strings.HasSuffix(d.FilePath, "/"+in.Path) && !holds(d.Input, in.Path) {
			f.At(at, "tool %s: neither file_path %q nor the input names %q", call.ID, d.FilePath, in.Path)
		}
	}
	// A reading tool may be told as the command that the runtime made of it.
	for _, text := range in.texts() {
		if !holds(d.Input, text) {
			f.At(at, "tool %s: the input %s does not hold %q", call.ID, clip(string(d.Input)), text)
		}
	}
}

// judgeSearch looks at searches that begin before it is known what is looked for.
func judgeSearch(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range saidTools(t.Run) {
		var in struct {
			Query string `json:"query"`
			URL   string `json:"url"`
		}
		if call.Tool != "web" || call.hidden || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		for _, start := range startsOf(t, call) {
			d, _ := start.Data.(event.ToolStart)
			if holds(d.Input, in.Query) && holds(d.Input, in.URL) {
				continue // it was known
			}
			f.Asserted(1)
			i := slices.IndexFunc(t.Events, func(e conformance.Event) bool {
				r, ok := e.Data.(event.ToolResult)
				return ok && r.ToolUseID == d.ToolUseID && e.SubagentID == start.SubagentID
			})
			if i < 0 {
				f.At(start, "the search %s has no result", d.ToolUseID)
				continue
			}
			switch r, _ := t.Events[i].Data.(event.ToolResult); {
			case r.Status != event.ToolOK && r.Status != event.ToolError: // cut short
			case !strings.Contains(r.Output, in.Query) || !strings.Contains(r.Output, in.URL):
				f.At(t.Events[i], "the search %s ends, and neither its input %s nor its output %q tells what was looked for: %q",
					d.ToolUseID, clip(string(d.Input)), clip(r.Output), in.Query+in.URL)
			}
		}
	}
}

func judgePaired(t *conformance.Trial, f *conformance.Finding) {
	type key struct{ sub, id string }
	starts := map[key]int{}
	results := map[key]int{}
	for _, e := range t.Events {
		switch d := e.Data.(type) {
		case event.ToolStart:
			k := key{e.SubagentID, d.ToolUseID}
			starts[k]++
			f.Asserted(1)
			if starts[k] > 1 {
				f.At(e, "tool %s starts twice", d.ToolUseID)
			}
		case event.ToolResult:
			k := key{e.SubagentID, d.ToolUseID}
			results[k]++
			switch {
			case starts[k] == 0:
				f.At(e, "tool_result of %s without a tool_start before it", d.ToolUseID)
			case results[k] > 1:
				f.At(e, "tool %s has a second tool_result", d.ToolUseID)
			}
		}
	}
	for k := range starts {
		if results[k] == 0 {
			f.Failf("tool %s has no tool_result", k.id)
		}
	}
}
