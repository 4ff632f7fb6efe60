package claude

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// toolInfo holds fields of a tool's start that its result repeats.
type toolInfo struct {
	name, file, sub string
	read            bool
	subject         string // the subject that TaskUpdate sets
	question        string // the input of a tool that asks the user
}

// toolInput holds the input fields that events show.
type toolInput struct {
	FilePath     lenient.Str `json:"file_path"`
	NotebookPath lenient.Str `json:"notebook_path"`
	Command      lenient.Str `json:"command"`
	Pattern      lenient.Str `json:"pattern"`
	Path         lenient.Str `json:"path"`
	Description  lenient.Str `json:"description"`
	Agent        lenient.Str `json:"agent"`
	SubagentType lenient.Str `json:"subagent_type"`
	Background   bool        `json:"run_in_background"`
	Query        lenient.Str `json:"query"`
	URL          lenient.Str `json:"url"`
	todoInput
}

// toolKey identifies a tool call. Ids are unique only within an agent.
func toolKey(sub, tool string) string { return sub + "/" + tool }

// startsSubagent reports whether the tool starts a sub-agent. Agent and Task
// are the same tool.
func startsSubagent(tool string) bool { return tool == "Agent" || tool == "Task" }

// startTool announces a tool.
func (t *translator) startTool(s *ledger.Scope, messageID string, bl *block) {
	if t.agents.hasEnded(bl.ID) {
		return
	}
	var in toolInput
	_ = json.Unmarshal(bl.Input, &in, lenient.Options) // an unexpected input leaves the fields empty
	name := string(bl.Name)
	d := event.ToolStart{
		ToolUseID: bl.ID, Tool: name, Input: bl.Input.Clone(), MessageID: messageID,
		Command: string(in.Command), Pattern: string(in.Pattern), SearchPath: string(in.Path),
		FilePath: cmp.Or(string(in.FilePath), string(in.NotebookPath)), Background: in.Background,
	}
	switch name {
	case "Read", "Glob", "Grep", "LS", "NotebookRead":
		d.IsFileRead = true
	case "WebSearch":
		d.Query = string(in.Query)
	case "WebFetch":
		d.URL = string(in.URL)
	case "Bash":
		r := readsFiles(d.Command)
		d.IsFileRead, d.FilePath, d.Pattern, d.SearchPath = r.is, r.file, r.pattern, r.searchPath
	}
	sub := s.Subagent()
	if startsSubagent(name) {
		d.SubagentSpawn = true
		d.SubagentName = cmp.Or(string(in.Agent), string(in.SubagentType), string(in.Description), "sub-agent")
	}
	if !s.ToolStart(d) {
		return
	}
	info := toolInfo{name: name, file: d.FilePath, sub: sub, read: d.IsFileRead, subject: string(in.Subject)}
	if questionTools[name] {
		info.question = string(bl.Input)
	}
	t.agents.openTools[toolKey(sub, bl.ID)] = info
	if a := t.agents.byTool[bl.ID]; a != nil && a.parent == "" {
		a.parent = sub // older versions report the task before its call
	}
	if name == "TodoWrite" && in.Todos != nil {
		in.emitPlan(s)
	}
}

// endTool closes a tool.
func (t *translator) endTool(s *ledger.Scope, ln *line, bl *block, b []byte) {
	sub := s.Subagent()
	key := toolKey(sub, bl.ToolUseID)
	info := t.agents.openTools[key]
	d := event.ToolResult{
		ToolUseID: bl.ToolUseID, Output: bl.Content.joined(), IsError: bl.IsError, Status: event.ToolOK,
		FilePath: info.file, IsFileRead: info.read, Media: bl.Content.media(t.l),
	}
	d.Truncated = ln.ToolResult.PersistedPath != "" && !strings.HasPrefix(info.name, "mcp__")
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
		d.Changes = fileChanges(r)
	}
	t.resolveByResult(sub, bl.ToolUseID, d.Status, source)
	if !s.ToolResult(d) {
		if !t.agents.toolEnded(key) {
			t.l.Notice(event.LevelInfo, event.NoticeLate, "a result of an unknown tool call", b)
		}
		return
	}
	if !bl.IsError {
		t.todo.applyResult(s, info.name, info.subject, &r.todoResult)
	}
	delete(t.denied, key)
	delete(t.agents.openTools, key)
	t.agents.noteEndedTool(key)
	t.taskAfterTool(bl.ToolUseID, &d)
}

// exitCode parses the exit code at the start of a failed command's output.
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

// fileChanges returns the files that a tool has written.
func fileChanges(r *toolUseResult) []event.FileChange {
	switch {
	case r.Notebook != "" && r.CellError == "":
		return []event.FileChange{{Path: string(r.Notebook), Kind: "update", Diff: cellDiff(string(r.OldSource), string(r.NewSource))}}
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

// cellDiff returns the diff of a cell of a notebook. Its line numbers are those of the
// cell: the file holds the cells as JSON.
func cellDiff(before, after string) string {
	var lines strings.Builder
	add := func(sign, text string) (start, n int) {
		if text == "" {
			return 0, 0
		}
		for l := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			lines.WriteString(sign + l + "\n")
			n++
		}
		return 1, n
	}
	from, removed := add("-", before)
	to, added := add("+", after)
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", from, removed, to, added) + lines.String()
}

// handleUser handles user lines: tool results, echoes, and text that the
// runtime writes in the user's name.
func (t *translator) handleUser(ln *line, b []byte) {
	if ln.IsReplay {
		t.handleEcho(ln)
		return
	}
	blocks := ln.Message.Content.Blocks
	for i := range blocks {
		// Text is a sub-agent's prompt, or written by the runtime.
		switch bl := &blocks[i]; {
		case bl.Type == "tool_result":
			if s := t.lineScope(ln); s != nil {
				t.stream.toolResultSeen = t.stream.toolResultSeen || ln.ParentToolUseID.get() == ""
				t.endTool(s, ln, bl, b)
			}
		case t.l.Turn() != nil && ln.ParentToolUseID.get() == "" && strings.HasPrefix(string(bl.Text), "[Request interrupted by user"):
			t.turn.interrupted = true // results of older versions do not report why a turn ended
		}
	}
}

// hookHeartbeat begins the id of a tool_progress that reports how long a hook runs.
const hookHeartbeat = "hook-"

// emitProgress emits how long a tool of the turn runs. A tool_progress has an id of its own and
// names the call as its parent; older versions may name the call itself.
func (t *translator) emitProgress(ln *line) {
	s := t.l.Turn()
	if s == nil || strings.HasPrefix(string(ln.ToolUseID), hookHeartbeat) {
		return
	}
	for _, id := range []string{string(ln.ToolUseID), ln.ParentToolUseID.get()} {
		s.Emit(event.ToolProgress{ToolUseID: id, ElapsedMS: max(0, int64(ln.Elapsed*1000))})
	}
}
