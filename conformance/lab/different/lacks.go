package different

import (
	"slices"

	"github.com/turnspec/turnspec/adapters/event"
)

// without returns an adapter whose events lack types and members.
func without(name, sentence string, what ...string) Adapter {
	return Adapter{Name: name, Sentence: sentence, Lacks: what, Events: each(func(e event.Event, out func(event.Event)) {
		if slices.Contains(what, string(e.Type())) {
			return
		}
		e.Data = withoutMembers(e.Data, what)
		out(e)
	})}
}

var (
	withoutState   = without("without-state", "reports no queue, usage, plan, checkpoint, mode or model", "queue", "usage", "plan", "checkpoint", "mode_changed", "model_changed", "result", "compaction")
	withoutDetails = without("without-details", "reports no reasoning, tasks, block ends or notices", "thinking", "task", "block_end", "notice")
	withoutOutput  = without("without-output", "emits nothing about a tool before its end", "tool_output", "tool_progress")
	withoutFields  = without("without-fields", "repeats no part of a tool's input", "tool_start.command", "tool_start.file_path", "tool_start.pattern",
		"tool_start.search_path", "tool_start.is_file_read", "tool_start.message_id", "tool_result.exit_code", "tool_result.changes", "tool_result.file_path")
)

// withoutMembers returns data without members.
func withoutMembers(d event.Data, what []string) event.Data {
	lacks := func(member string) bool { return slices.Contains(what, string(d.EventType())+"."+member) }
	switch d := d.(type) {
	case event.ToolStart:
		for member, field := range map[string]*string{"command": &d.Command, "file_path": &d.FilePath, "pattern": &d.Pattern, "search_path": &d.SearchPath, "message_id": &d.MessageID} {
			if lacks(member) {
				*field = ""
			}
		}
		if lacks("is_file_read") {
			d.IsFileRead = false
		}
		return d
	case event.ToolResult:
		if lacks("exit_code") {
			d.ExitCode = nil
		}
		if lacks("changes") {
			d.Changes = nil
		}
		if lacks("file_path") {
			d.FilePath = ""
		}
		return d
	}
	return d
}
