package claude

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
)

// toolInfo is what a tool's result repeats of its start.
type toolInfo struct {
	name, file, sub string
	read            bool
	subject         string // that a task is to have
}

// input is what tool inputs have in common, and what a UI shows first.
type input struct {
	FilePath     text `json:"file_path"`
	NotebookPath text `json:"notebook_path"`
	Command      text `json:"command"`
	Pattern      text `json:"pattern"`
	Path         text `json:"path"`
	Description  text `json:"description"`
	Agent        text `json:"agent"`
	SubagentType text `json:"subagent_type"`
	Background   bool `json:"run_in_background"`
	todoInput
}

// within names a tool call: ids are unique only within an agent.
func within(sub, tool string) string { return sub + "/" + tool }

// spawns reports whether the tool starts a sub-agent: the same tool has two names.
func spawns(tool string) bool { return tool == "Agent" || tool == "Task" }

// toolUse announces a tool. The input is the runtime's normalized one.
func (t *translator) toolUse(s *ledger.Scope, messageID string, bl *block) {
	if t.agents.gone(bl.ID) {
		return
	}
	var in input
	_ = json.Unmarshal(bl.Input, &in, lenient) // another shape shows nothing first
	name := string(bl.Name)
	d := event.ToolStart{
		ToolUseID: bl.ID, Tool: name, Input: clone(bl.Input), MessageID: messageID,
		Command: string(in.Command), Pattern: string(in.Pattern), SearchPath: string(in.Path),
		FilePath: first(string(in.FilePath), string(in.NotebookPath)), Background: in.Background,
	}
	switch name {
	case "Read", "Glob", "Grep", "LS", "NotebookRead":
		d.IsFileRead = true
	case "Bash":
		r := readsFiles(d.Command)
		d.IsFileRead, d.FilePath, d.Pattern, d.SearchPath = r.is, r.file, r.pattern, r.searchPath
	}
	sub := t.subOf(s)
	if spawns(name) {
		d.SubagentSpawn = true
		d.SubagentName = first(string(in.Agent), string(in.SubagentType), string(in.Description), "sub-agent")
	}
	if !s.ToolStart(d) {
		return
	}
	t.agents.tools[within(sub, bl.ID)] = toolInfo{name: name, file: d.FilePath, sub: sub, read: d.IsFileRead, subject: string(in.Subject)}
	if name == "TodoWrite" && in.Todos != nil {
		in.whole(s)
	}
}

// toolResult closes a tool.
func (t *translator) toolResult(s *ledger.Scope, ln *line, bl *block, b []byte) {
	sub := t.subOf(s)
	key := within(sub, bl.ToolUseID)
	info := t.agents.tools[key]
	d := event.ToolResult{
		ToolUseID: bl.ToolUseID, Output: bl.Content.joined(), IsError: bl.IsError, Status: event.ToolOK,
		FilePath: info.file, IsFileRead: info.read,
	}
	if bl.IsError {
		d.Status = event.ToolError
	}
	r := &ln.ToolResult
	source := ""
	for _, m := range ln.ToolMeta {
		if m.ID != bl.ToolUseID {
			continue
		}
		if p := m.Decision; p != nil {
			source = string(p.Source)
			if p.Decision == "reject" {
				d.Status = event.ToolDenied
			}
		}
	}
	switch {
	case t.denied[key]:
		d.Status = event.ToolDenied
	case bl.IsError && d.Status == event.ToolError && strings.HasPrefix(d.Output, "The user doesn't want to proceed with this tool use"):
		d.Status = event.ToolInterrupted
	case !bl.IsError && (r.TaskID != "" || r.IsAsync || r.Status == "async_launched"):
		d.Status = event.ToolBackgrounded
	}
	if d.Status == event.ToolError {
		d.ExitCode = exitCode(d.Output)
	}
	if !bl.IsError {
		d.Changes = changes(r)
	}
	t.settle(sub, bl.ToolUseID, d.Status, source)
	if !s.ToolResult(d) {
		if !t.agents.wasTool(key) {
			t.l.Emit(event.Notice{Level: event.LevelInfo, Code: event.NoticeLate, Raw: clone(b),
				Text: "a result of a tool that was not announced"})
		}
		return
	}
	if !bl.IsError {
		t.todo.result(s, info.name, info.subject, &r.todoResult)
	}
	delete(t.denied, key)
	delete(t.agents.tools, key)
	t.agents.pastTool(key)
	t.launched(bl.ToolUseID, &d)
}

// exitCode reads the code that a failed command's output begins with.
func exitCode(output string) *int {
	rest, ok := strings.CutPrefix(output, "Exit code ")
	if !ok {
		return nil
	}
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return nil
	}
	return &n
}

// changes are the files that a tool has written.
func changes(r *toolUseResult) []event.FileChange {
	switch {
	case r.FilePath == "":
		return nil
	case r.Type == "create":
		return []event.FileChange{{Path: string(r.FilePath), Kind: "add", Diff: string(r.Content)}}
	case len(r.Patch) == 0:
		return nil
	}
	var sb strings.Builder
	for _, h := range r.Patch {
		fmt.Fprintf(&sb, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		for _, l := range h.Lines {
			sb.WriteString(l)
			sb.WriteByte('\n')
		}
	}
	return []event.FileChange{{Path: string(r.FilePath), Kind: "update", Diff: sb.String()}}
}

// user handles user lines: results of tools, echoes, and what the runtime says
// in the user's name.
func (t *translator) user(ln *line, b []byte) {
	if ln.IsReplay {
		t.replay(ln)
		return
	}
	blocks := ln.Message.Content.Blocks
	for i := range blocks {
		// Text is a sub-agent's prompt, or the runtime in the user's name.
		switch bl := &blocks[i]; {
		case bl.Type == "tool_result":
			if s := t.scope(ln); s != nil {
				t.toolResult(s, ln, bl, b)
			}
		case t.l.Turn() != nil && ln.ParentToolUseID.get() == "" && strings.HasPrefix(string(bl.Text), "[Request interrupted by user"):
			t.turn.interrupted = true // results of older versions do not say why a turn ended
		}
	}
}
