package opencode

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// toolNames are the names of events for the runtime's own tools. Others keep theirs.
var toolNames = map[string]string{
	"bash": "Bash", "read": "Read", "edit": "Edit", "write": "Write", "grep": "Grep", "glob": "Glob", "list": "LS",
	"task": "Task", "todowrite": "TodoWrite", "webfetch": "WebFetch", "websearch": "WebSearch", "question": "question",
}

func toolName(name string) string {
	if n, ok := toolNames[name]; ok {
		return n
	}
	return name
}

// invalidTool is the runtime's own tool in the place of one that does not exist, or whose
// input does not fit. Its input names the tool that was called.
const invalidTool = "invalid"

// toolName returns the name of a call's tool. The runtime joins the names of an MCP server and
// of its tool with a sign that either may have.
func (t *translator) toolName(name string, in *input) string {
	if name == invalidTool && in.Tool != "" {
		name = string(in.Tool)
	}
	if t.live != nil {
		for _, m := range t.live.o.MCP {
			if tool, ok := strings.CutPrefix(name, notInNames.ReplaceAllString(m.Name, "_")+"_"); ok {
				return "mcp__" + m.Name + "__" + tool
			}
		}
	}
	return toolName(name)
}

// notInNames are the signs that the runtime replaces in the names of servers.
var notInNames = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// input holds the members of the inputs of the runtime's own tools.
type input struct {
	Command     str `json:"command"`
	FilePath    str `json:"filePath"`
	Path        str `json:"path"`
	Pattern     str `json:"pattern"`
	Content     str `json:"content"`
	Description str `json:"description"`
	Agent       str `json:"subagent_type"`
	Tool        str `json:"tool"` // of invalidTool
	Query       str `json:"query"`
	URL         str `json:"url"`
}

// runningTool is a tool call without a result.
type runningTool struct {
	id, tool string
	input    event.Raw
	in       input
	output   string // so far
	spawns   bool
	name     string // of the sub-agent
	agent    string // the sub-agent that it has started
}

// toolUpdated handles a tool call that has begun, changed or ended.
func (t *translator) toolUpdated(a *agent, p part, b []byte) {
	sc := t.scope(a)
	if sc == nil || p.Call == "" {
		return
	}
	switch p.State.Status {
	case "pending": // the model still writes its input
	case "running":
		t.showOutput(sc, t.startTool(a, sc, p), p)
	case "completed", "error":
		if a.tools[string(p.Call)] == nil && isTrue(p.State.Metadata.Interrupted) {
			return // the model was stopped while it wrote the input: no call was made
		}
		if tool := t.startTool(a, sc, p); tool != nil {
			t.endTool(a, sc, tool, p)
		}
	default:
		t.noticeUnknown("the state "+string(p.State.Status)+" of a tool", b)
	}
}

// startTool returns a tool call, which it announces if it is new; nil if it has a result.
func (t *translator) startTool(a *agent, sc *ledger.Scope, p part) *runningTool {
	id := string(p.Call)
	tool := a.tools[id]
	if tool == nil {
		tool = &runningTool{id: id, input: inputOf(p.State.Input), in: decode[input](p.State.Input)}
		tool.tool = t.toolName(string(p.Tool), &tool.in)
		in := &tool.in
		d := event.ToolStart{ToolUseID: id, Tool: tool.tool, Input: tool.input, MessageID: string(p.MessageID)}
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
			tool.spawns, tool.name = true, string(in.Agent)
			d.SubagentSpawn, d.SubagentName = true, tool.name
		}
		if !sc.ToolStart(d) {
			return nil
		}
		a.tools[id] = tool
		a.calls = append(a.calls, id)
	}
	if child := t.agents[string(p.State.Metadata.Session)]; tool.spawns && child != nil && child.sub {
		t.linkSubagent(child, tool)
	}
	return tool
}

// inputOf returns a copy of an input; without one, an object without members.
func inputOf(v jsontext.Value) event.Raw {
	if len(v) == 0 || v.Kind() == 'n' {
		return event.Raw("{}")
	}
	return v.Clone()
}

// The runtime cuts the output of a command that it reports while it runs, from 30,000 letters on:
// it then begins with cutOutput.
const (
	cutOutput    = "...\n\n"
	minCutOutput = 20_000
)

// showOutput emits the output of a running command. Each line repeats it from its start, or
// from where a long one was cut; what was emitted is not emitted again. Of a line that is cut
// the place in the output is not known, so that it is not emitted: the result has the rest.
func (t *translator) showOutput(sc *ledger.Scope, tool *runningTool, p part) {
	if tool == nil || tool.tool != "Bash" {
		return
	}
	text := string(p.State.Metadata.Output)
	if strings.HasPrefix(text, cutOutput) && len(text) > minCutOutput {
		return
	}
	if rest, ok := strings.CutPrefix(text, tool.output); ok {
		sc.ToolOutput(tool.id, rest)
		tool.output = text
	}
}

// taskCancelled is the error of a call of a sub-agent that was stopped with its turn. It comes
// before the report that the turn was stopped.
const taskCancelled = "Task cancelled"

func (t *translator) endTool(a *agent, sc *ledger.Scope, tool *runningTool, p part) {
	delete(a.tools, tool.id)
	a.calls = slices.DeleteFunc(a.calls, func(id string) bool { return id == tool.id })
	st := &p.State
	d := event.ToolResult{ToolUseID: tool.id, Output: string(st.Output), Status: event.ToolOK, Truncated: isTrue(st.Metadata.Truncated)}
	if st.Status == "error" {
		d.Output, d.IsError, d.Status = string(st.Error), true, event.ToolError
	}
	path := string(tool.in.FilePath)
	switch {
	case isTrue(st.Metadata.Interrupted):
		d.Status = event.ToolInterrupted
	case d.IsError && t.callResolved(a, tool):
		d.Status = event.ToolDenied
	case d.IsError && (a.aborted || p.Tool == "task" && st.Error == taskCancelled):
		d.Status = event.ToolInterrupted
	case d.IsError:
	case a.aborted && p.Tool == "task": // 1.15 reports that it has completed
		d.Status, d.IsError = event.ToolInterrupted, true
	case tool.tool == "Bash":
		t.endCommand(a, &d, st)
	case tool.tool == "Read":
		d.IsFileRead, d.FilePath = true, path
	case tool.tool == "Edit" && path != "":
		d.Changes = []event.FileChange{{Path: path, Kind: event.ChangeUpdate, Diff: hunks(string(st.Metadata.Files.Patch))}}
	case tool.tool == "Write" && path != "":
		// The lines that change in a file that was there before are not stated.
		d.Changes = []event.FileChange{{Path: path, Kind: event.ChangeAdd, Diff: string(tool.in.Content)}}
	}
	if !d.IsError {
		t.callResolved(a, tool)
	}
	if child := t.agents[tool.agent]; tool.agent != "" && child != nil {
		t.subagentEnded(child)
	}
	sc.ToolResult(d)
}

// endCommand completes the result of a command. One that was stopped ends as if it had
// completed, without an exit code.
func (t *translator) endCommand(a *agent, d *event.ToolResult, st *state) {
	if st.Metadata.Exit.Kind() != '0' {
		if a.aborted || t.live != nil && t.live.stopping {
			d.Status, d.IsError = event.ToolInterrupted, true
		}
		return
	}
	code := int(decode[num](st.Metadata.Exit))
	d.ExitCode = &code
	if code != 0 {
		d.Status, d.IsError = event.ToolError, true
	}
}

// hunks returns a diff without the names of the files in its head.
func hunks(patch string) string {
	_, rest, ok := strings.Cut(patch, "\n@@")
	if !ok {
		return patch
	}
	return "@@" + rest
}

// planUpdated handles the list of steps.
func (t *translator) planUpdated(a *agent, todos jsontext.Value) {
	sc := t.scope(a)
	if sc == nil {
		return
	}
	d := event.Plan{Steps: []event.PlanStep{}}
	for _, s := range decode[[]struct {
		Content str `json:"content"`
		Status  str `json:"status"`
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
	sc.Emit(d)
}
