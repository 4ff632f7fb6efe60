package opencodecli

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// toolNames are the names of events for the runtime's own tools. Others keep theirs.
var toolNames = map[string]string{
	"bash": "Bash", "read": "Read", "edit": "Edit", "write": "Write", "grep": "Grep", "glob": "Glob", "list": "LS",
	"task": "Task", "todowrite": "TodoWrite", "webfetch": "WebFetch", "websearch": "WebSearch", "question": "question",
}

func eventName(name string) string {
	if n, ok := toolNames[name]; ok {
		return n
	}
	return name
}

// invalidTool is the runtime's own tool in the place of one that does not exist, or whose
// input does not fit. Its input names the tool that was called.
const invalidTool = "invalid"

// ToolName returns the name of a call's tool. The runtime joins the names of an MCP server and
// of its tool with a sign that either may have.
func ToolName(name string, in *Input, servers []adapters.MCPServer) string {
	if name == invalidTool && in.Tool != "" {
		name = string(in.Tool)
	}
	for _, m := range servers {
		if tool, ok := strings.CutPrefix(name, notInNames.ReplaceAllString(m.Name, "_")+"_"); ok {
			return "mcp__" + m.Name + "__" + tool
		}
	}
	return eventName(name)
}

// notInNames are the signs that the runtime replaces in the names of servers.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// Input holds the members of the inputs of the runtime's own tools.
type Input struct {
	Command     lenient.Str `json:"command"`
	FilePath    lenient.Str `json:"filePath"`
	Path        lenient.Str `json:"path"`
	Pattern     lenient.Str `json:"pattern"`
	Content     lenient.Str `json:"content"`
	Description lenient.Str `json:"description"`
	Agent       lenient.Str `json:"subagent_type"`
	Tool        lenient.Str `json:"tool"` // of invalidTool
	Query       lenient.Str `json:"query"`
	URL         lenient.Str `json:"url"`
}

// StartOf returns the event that announces a call of a tool, whose name is that of ToolName.
func StartOf(p Part, tool string, in *Input) event.ToolStart {
	d := event.ToolStart{ToolUseID: string(p.Call), Tool: tool, Input: InputOf(p.State.Input), MessageID: string(p.MessageID)}
	switch d.Tool {
	case "Bash":
		d.Command = string(in.Command)
	case "Read":
		d.FilePath, d.IsFileRead = string(in.FilePath), true
	case "Edit", "Write":
		d.FilePath = string(in.FilePath)
	case "Grep", "Glob":
		d.Pattern, d.SearchPath, d.IsFileRead = string(in.Pattern), string(in.Path), true
	case "LS":
		d.SearchPath, d.IsFileRead = string(in.Path), true
	case "WebSearch":
		d.Query = string(in.Query)
	case "WebFetch":
		d.URL = string(in.URL)
	case "Task":
		d.SubagentSpawn, d.SubagentName = true, string(in.Agent)
	}
	return d
}

// InputOf returns a copy of an input; without one, an object without members.
func InputOf(v jsontext.Value) event.Raw {
	if len(v) == 0 || v.Kind() == 'n' {
		return event.Raw("{}")
	}
	return v.Clone()
}

// MediaOf returns the images, sounds and documents that a call gave, for its result.
func MediaOf(l *ledger.Ledger, p Part) (out []event.Media) {
	for _, a := range lenient.Decode[[]struct {
		MIME lenient.Str `json:"mime"`
		URL  lenient.Str `json:"url"`
	}](p.State.Attached) {
		head, data, _ := strings.Cut(string(a.URL), ",")
		if b, err := base64.StdEncoding.DecodeString(data); err == nil && strings.HasSuffix(head, ";base64") {
			out = append(out, l.MediaOf(event.MediaKindOf(string(a.MIME)), string(a.MIME), b))
		}
	}
	return out
}

// ResultOf returns the result of a call that has ended, as the runtime reports it. A command that
// was stopped ends as if it had completed, without an exit code.
func ResultOf(p Part, tool string, in *Input) event.ToolResult {
	st := &p.State
	d := event.ToolResult{ToolUseID: string(p.Call), Output: string(st.Output), Status: event.ToolOK, Truncated: lenient.IsTrue(st.Metadata.Truncated)}
	if st.Status == "error" {
		d.Output, d.IsError, d.Status = string(st.Error), true, event.ToolError
		return d
	}
	path := string(in.FilePath)
	switch {
	case tool == "Bash" && st.Metadata.Exit.Kind() == '0':
		code := int(lenient.Decode[lenient.Num](st.Metadata.Exit))
		d.ExitCode = &code
		if code != 0 {
			d.Status, d.IsError = event.ToolError, true
		}
	case tool == "Read":
		d.IsFileRead, d.FilePath = true, path
	case tool == "Edit" && path != "":
		d.Changes = []event.FileChange{{Path: path, Kind: event.ChangeUpdate, Diff: hunks(string(st.Metadata.Files.Patch))}}
	case tool == "Write" && path != "":
		d.Changes = []event.FileChange{ledger.WrittenFile(path, string(in.Content), lenient.IsTrue(st.Metadata.Exists))}
	}
	return d
}

// hunks returns a diff without the names of the files in its head.
func hunks(patch string) string {
	_, rest, ok := strings.Cut(patch, "\n@@")
	if !ok {
		return patch
	}
	return "@@" + rest
}

// PlanOf returns the plan of a list of steps.
func PlanOf(todos jsontext.Value) event.Plan {
	d := event.Plan{Steps: []event.PlanStep{}}
	for _, s := range lenient.Decode[[]struct {
		Content lenient.Str `json:"content"`
		Status  lenient.Str `json:"status"`
	}](todos) {
		status := event.StepPending
		switch s.Status {
		case "in_progress":
			status = event.StepInProgress
		case "completed", "cancelled":
			status = event.StepCompleted
		}
		d.Steps = append(d.Steps, event.PlanStep{Text: string(s.Content), Status: status})
	}
	return d
}
