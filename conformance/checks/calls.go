package checks

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// callChecks are about what an event says of a tool call.
func callChecks() []*conformance.Check {
	return []*conformance.Check{
		{
			ID: "tool.streamed", Severity: conformance.Must, Source: "adapters that append cumulative snapshots", Tiers: both,
			Sentence: "Streamed pieces appear in the result in their order; the start may be missing, and none is there twice.",
			Judge: func(t *conformance.Trial, f *conformance.Finding) {
				for _, e := range t.Events {
					if d, ok := e.Data.(event.ToolResult); ok && e.SubagentID == "" && (d.Status == event.ToolOK || d.Status == event.ToolError) {
						judgeStreamed(t, d, f)
					}
				}
			},
		},
		{
			ID: "tool.fields", Severity: conformance.Must, Source: "user interfaces that show a call in one line", Tiers: both,
			Sentence: "file_path and command stand at the top of tool_start where the call has them.",
			Judge:    judgeFields,
		},
		{
			ID: "tool.file-read", Severity: conformance.Must, Source: "wire/codex: commandActions", Tiers: both,
			Sentence: "A call that only reads a file is told as a file read, one that writes or runs something is not.",
			Judge:    judgeFileRead,
		},
		{
			ID: "tool.interrupted", Severity: conformance.Must, Source: "chats in which a tool spins for ever", Tiers: both,
			Sentence: "No tool call is open when its turn has ended.",
			Judge:    judgeOpenTools,
		},
		{
			ID: "tool.canonical", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "A call has the canonical name of what it does: Bash, Read, Write, Edit, Glob, Grep, WebSearch, WebFetch, mcp__server__tool.",
			Judge:    judgeCanonical,
		},
		{
			ID: "tool.file-change", Severity: conformance.Must, Source: "wire/codex: fileChange", Tiers: both,
			Sentence: "A change of a file that went well carries its path, its kind and what has changed.",
			Judge:    judgeChanges,
		},
		{
			ID: "subagent.attributed", Severity: conformance.Must, Source: "wire/codex: child threads; chats that flatten sub-agents", Tiers: both,
			Sentence: "A sub-agent's tool calls carry its subagent_id; none of the parent's does.",
			Judge:    judgeAttributed,
		},
		{
			ID: "subagent.spawn", Severity: conformance.Must, Source: "the event contract (adapters/event)", Tiers: both,
			Sentence: "The tool_start that spawns a sub-agent says so, and no other does.",
			Judge:    judgeSpawn,
		},
		{
			ID: "subagent.text-apart", Severity: conformance.Must, Source: "chats that flatten sub-agents", Tiers: both,
			Sentence: "A sub-agent's text is not part of the parent's.",
			Judge:    judgeTextApart,
		},
	}
}

// startsOf are the main agent's calls as the subject tells them.
func startsOf(t *conformance.Trial, call saidTool) (out []conformance.Event) {
	for _, e := range t.Events {
		if d, ok := e.Data.(event.ToolStart); ok && e.SubagentID == "" && isTool(d.ToolUseID, call.ID) {
			out = append(out, e)
		}
	}
	return out
}

func judgeFields(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range saidTools(t.Run) {
		var in scripted
		if call.hidden || json.Unmarshal(call.Input, &in) != nil {
			continue
		}
		for _, e := range startsOf(t, call) {
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

func judgeFileRead(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range saidTools(t.Run) {
		if call.hidden {
			continue
		}
		for _, e := range startsOf(t, call) {
			d, _ := e.Data.(event.ToolStart)
			switch {
			case call.Tool == "read" || d.Tool == "Read":
				f.Asserted(1)
				if !d.IsFileRead {
					f.At(e, "%s %s reads a file, and is not told so", d.Tool, call.ID)
				}
			case call.Tool == "write" || call.Tool == "edit":
				f.Asserted(1)
				if d.IsFileRead {
					f.At(e, "%s %s writes a file, and is told as a read", d.Tool, call.ID)
				}
			}
		}
	}
}

func judgeOpenTools(t *conformance.Trial, f *conformance.Finding) {
	open := map[string]int{} // main agent's calls → turn
	for _, e := range t.Events {
		if e.SubagentID != "" {
			continue
		}
		switch d := e.Data.(type) {
		case event.ToolStart:
			f.Asserted(1)
			open[d.ToolUseID] = e.Turn
		case event.ToolResult:
			delete(open, d.ToolUseID)
		}
		if !e.Terminal() || e.Turn == 0 {
			continue
		}
		for id, turn := range open {
			if turn == e.Turn {
				f.At(e, "turn %d ends, and tool %s is open", turn, id)
			}
		}
	}
}

// canonical are the names that a scripted call may have.
var canonical = map[string][]string{
	"shell": {"Bash"},
	"read":  {"Read", "Bash"}, // a runtime may read by a command
	"write": {"Write", "Edit"},
	"edit":  {"Edit", "Write"},
	"web":   {"WebSearch", "WebFetch"},
}

func judgeCanonical(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range saidTools(t.Run) {
		want := canonical[call.Tool]
		if call.hidden || want == nil && call.Tool != "mcp" {
			continue
		}
		for _, e := range startsOf(t, call) {
			f.Asserted(1)
			d, _ := e.Data.(event.ToolStart)
			if want != nil && !slices.Contains(want, d.Tool) || want == nil && !strings.HasPrefix(d.Tool, "mcp__") {
				f.At(e, "the call %s (%s) is told as %q, want %s", call.ID, call.Tool, d.Tool, strings.Join(append(want, "mcp__server__tool")[:max(1, len(want))], " or "))
			}
		}
	}
}

func judgeChanges(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range saidTools(t.Run) {
		if call.hidden || call.Tool != "write" && call.Tool != "edit" {
			continue
		}
		for _, e := range t.Events {
			d, ok := e.Data.(event.ToolResult)
			if !ok || e.SubagentID != "" || !isTool(d.ToolUseID, call.ID) || d.Status != event.ToolOK {
				continue
			}
			f.Asserted(1)
			if len(d.Changes) == 0 {
				f.At(e, "%s %s went well, and its result tells no change", call.Tool, call.ID)
			}
			for _, c := range d.Changes {
				if c.Path == "" || c.Kind == "" || c.Diff == "" && c.Kind != event.ChangeDelete && c.Kind != event.ChangeMove {
					f.At(e, "%s %s: the change of %q is %q, with %d bytes of difference", call.Tool, call.ID, c.Path, c.Kind, len(c.Diff))
				}
			}
		}
	}
}

func judgeAttributed(t *conformance.Trial, f *conformance.Finding) {
	for _, e := range t.Events {
		d, ok := e.Data.(event.ToolStart)
		if !ok {
			continue
		}
		main, sub := false, false
		for _, q := range t.Witness {
			for _, s := range q.Said {
				if s.Tool != "" && isTool(d.ToolUseID, s.ID) && !besides(q.Agent) {
					main, sub = main || q.Agent == "", sub || q.Agent != ""
				}
			}
		}
		if len(agentsOf(t.Run)) == 0 || main == sub {
			continue // the id tells nothing
		}
		f.Asserted(1)
		if sub != (e.SubagentID != "") {
			f.At(e, "tool %s has subagent_id %q, and a sub-agent called it: %v", d.ToolUseID, e.SubagentID, sub)
		}
	}
}

func judgeSpawn(t *conformance.Trial, f *conformance.Finding) {
	for _, call := range saidTools(t.Run) {
		if call.hidden {
			continue
		}
		for _, e := range startsOf(t, call) {
			d, _ := e.Data.(event.ToolStart)
			var in struct {
				Prompt string `json:"prompt"`
			}
			spawns := call.Tool == "subagent" && json.Unmarshal(call.Input, &in) == nil && in.Prompt != ""
			if spawns {
				f.Asserted(1)
			}
			if d.SubagentSpawn != spawns {
				f.At(e, "the call %s (%s) says subagent_spawn: %v", call.ID, call.Tool, d.SubagentSpawn)
			}
		}
	}
}

func judgeTextApart(t *conformance.Trial, f *conformance.Finding) {
	text := shown(t.Run)
	for _, agent := range agentsOf(t.Run) {
		for _, q := range t.Witness {
			for _, s := range q.Said {
				if q.Agent != agent || len(s.Text) < 8 || strings.Contains(expected(t.Run, text), s.Text) {
					continue
				}
				f.Asserted(1)
				if strings.Contains(text, s.Text) {
					f.Failf("%s said %q, and it stands in the parent's text", agent, clip(s.Text))
				}
			}
		}
	}
}
