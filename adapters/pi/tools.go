package pi

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// toolNames are the names of events for the runtime's own tools. Others keep theirs.
var toolNames = map[string]string{
	"bash": "Bash", "read": "Read", "edit": "Edit", "write": "Write", "grep": "Grep", "find": "Glob", "ls": "LS",
}

func toolName(name string) string {
	if n, ok := toolNames[name]; ok {
		return n
	}
	return name
}

// input holds the members of the inputs of the runtime's own tools.
type input struct {
	Command lenient.Str `json:"command"`
	Path    lenient.Str `json:"path"`
	Pattern lenient.Str `json:"pattern"`
	Content lenient.Str `json:"content"`
}

func (t *translator) toolStarted() {
	sc := t.l.Turn()
	m := &t.m
	if sc == nil || m.ToolCallID == "" {
		return
	}
	in := lenient.Decode[input](m.Args)
	d := event.ToolStart{ToolUseID: string(m.ToolCallID), Tool: toolName(string(m.ToolName)), Input: inputOf(m.Args), MessageID: t.messageID}
	switch d.Tool {
	case "Bash":
		d.Command = string(in.Command)
	case "Read":
		d.FilePath, d.IsFileRead = string(in.Path), true
	case "Edit", "Write":
		d.FilePath = string(in.Path)
	case "Grep", "Glob":
		d.Pattern, d.SearchPath, d.IsFileRead = string(in.Pattern), string(in.Path), true
	case "LS":
		d.SearchPath, d.IsFileRead = string(in.Path), true
	}
	if sc.ToolStart(d) {
		t.tools = append(t.tools, runningTool{id: d.ToolUseID, path: d.FilePath, content: string(in.Content)})
	}
}

// inputStarted handles the beginning of a call in the model's message. In the older dialect
// only the snapshot of the message names the call.
func (t *translator) inputStarted(sc *ledger.Scope, u *update) {
	if !t.l.StreamInputs {
		return
	}
	if u.ID == "" {
		parts := lenient.Decode[[]content](lenient.Decode[message](t.m.Message).Content)
		if i := int(u.Index); 0 <= i && i < len(parts) {
			u.ID, u.Name = parts[i].ID, parts[i].Name
		}
	}
	if t.inputs == nil {
		t.inputs = map[lenient.Num]string{}
	}
	t.inputs[u.Index] = string(u.ID)
	sc.InputStart(string(u.ID), toolName(string(u.Name)))
}

// runningTool is a tool call without a result. The line of its result does not repeat
// its input.
type runningTool struct {
	id, path string
	content  string // of a file that is written
	output   string // so far
}

func (t *translator) tool(id string) *runningTool {
	for i := range t.tools {
		if t.tools[i].id == id {
			return &t.tools[i]
		}
	}
	return nil
}

// inputOf returns a copy of an input; without one, an object without members.
func inputOf(v jsontext.Value) event.Raw {
	if len(v) == 0 || v.Kind() == 'n' {
		return event.Raw("{}")
	}
	return v.Clone()
}

// toolUpdated handles the output of a running tool. Each line repeats the output from its
// start, or from where a long one was cut; what was emitted is not emitted again.
func (t *translator) toolUpdated() {
	sc, tool := t.l.Turn(), t.tool(string(t.m.ToolCallID))
	if sc == nil || tool == nil {
		return
	}
	r := lenient.Decode[result](t.m.Partial)
	if lenient.IsTrue(r.Details.Truncation.Truncated) {
		return // of what is new, a part may be missing
	}
	text := textOf(r.Content)
	if rest, ok := strings.CutPrefix(text, tool.output); ok {
		sc.Emit(event.ToolOutput{ToolUseID: tool.id, Text: rest})
		tool.output = text
	}
}

// The runtime's words in the result of a command that failed or was aborted.
var (
	exitLine    = regexp.MustCompile(`\n*Command exited with code (\d+)\s*$`)
	abortedLine = regexp.MustCompile(`\n*Command aborted\s*$`)
)

// wasStopped reports whether a result is that of a call that did not run because the turn was
// aborted: in the words of the runtime, or of the extension that asked about it.
func wasStopped(output string) bool {
	return output == "Operation aborted" || output == "The turn was stopped."
}

func (t *translator) toolEnded() {
	sc := t.l.Turn()
	m := &t.m
	id := string(m.ToolCallID)
	tool := t.tool(id)
	if sc == nil || tool == nil {
		return
	}
	path, content := tool.path, tool.content
	t.tools = slices.DeleteFunc(t.tools, func(r runningTool) bool { return r.id == id })
	r := lenient.Decode[result](m.Result)
	d := event.ToolResult{ToolUseID: id, Output: textOf(r.Content), IsError: lenient.IsTrue(m.IsError), Status: event.ToolOK}
	if d.IsError {
		d.Status = event.ToolError
	}
	d.Media = t.l.MediaIn(r.Content)
	d.Truncated = lenient.IsTrue(r.Details.Truncation.Truncated)
	denied := t.callResolved(id, &d)
	switch name := toolName(string(m.ToolName)); {
	case !d.IsError && name == "Read":
		d.IsFileRead, d.FilePath = true, path
	case !d.IsError && name == "Edit" && path != "":
		d.Changes = []event.FileChange{{Path: path, Kind: event.ChangeUpdate, Diff: r.diff()}}
	case !d.IsError && name == "Write" && path != "":
		d.Changes = []event.FileChange{t.written(path, content)}
	case denied:
		d.Status = event.ToolDenied
	case d.IsError && (wasStopped(d.Output) || name == "Bash" && abortedLine.MatchString(d.Output)):
		d.Status = event.ToolInterrupted
	case d.IsError && name == "Bash":
		if x := exitLine.FindStringSubmatch(d.Output); x != nil {
			if code, err := strconv.Atoi(x[1]); err == nil {
				d.ExitCode = &code
			}
		}
	}
	if d.IsFileRead || len(d.Changes) > 0 {
		t.files[path] = true
	}
	sc.ToolResult(d)
}

// written returns the change of a write. The runtime does not state whether the file was
// there before: it was if the session has read or changed it. What it held may have
// changed since, so that the diff has the new lines only.
func (t *translator) written(path, content string) event.FileChange {
	return ledger.WrittenFile(path, content, t.files[path])
}

// diff returns the change of a file, without the names of the files in its head.
func (r *result) diff() string {
	if r.Details.Patch == "" {
		return unifiedLines(string(r.Details.Diff))
	}
	_, hunks, ok := strings.Cut(string(r.Details.Patch), "\n@@")
	if !ok {
		return string(r.Details.Patch)
	}
	return "@@" + hunks
}

// numberedLine is a line of the runtime's diff: a sign, the number of the line, its text.
var numberedLine = regexp.MustCompile(`^([ +-])\s*(\d+) (.*)$`)

// unifiedLines returns a diff of versions that number its lines as hunks. A line without a number
// stands for lines that they leave out.
func unifiedLines(diff string) string {
	var out, hunk strings.Builder
	first, old, added, shift := 0, 0, 0, 0
	end := func() {
		if hunk.Len() > 0 {
			fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n%s", first, old, first+shift, added, hunk.String())
		}
		hunk.Reset()
		shift += added - old
		first, old, added = 0, 0, 0
	}
	for l := range strings.Lines(diff) {
		x := numberedLine.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if x == nil {
			end()
			continue
		}
		if hunk.Len() == 0 {
			first, _ = strconv.Atoi(x[2]) // digits
		}
		if x[1] != "+" {
			old++
		}
		if x[1] != "-" {
			added++
		}
		hunk.WriteString(x[1] + x[3] + "\n")
	}
	end()
	return out.String()
}
