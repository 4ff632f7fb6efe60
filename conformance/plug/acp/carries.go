package acp

import "slices"

// never is what ACP has no word for, so that it is this package's own or is
// missing: see the package comment.
var never = []string{
	"session_ready", "session_ready.provider_session_id", "session_ready.forked_from", "session_end", "session_end.exit_code",
	"turn_start", "turn_start.cause", "turn_start.message_ids", "turn_start.provider_turn_id", "queue",
	"delta.block_id", "block_end", "tool_output", "tool_result.exit_code", "tool_result.changes", "tool_result.status",
	"tool_start.tool", "tool_start.command", "tool_start.is_file_read", "tool_start.subagent_spawn", "thinking.done",
	"permission_resolved", "interrupt", "interrupt_resolved", "task", "model_changed", "mode_changed",
	"notice", "error.code", "answer.message", "checkpoint", "compaction", "component_update", "component_remove", "result",
	"seq", "ts", "subagent_id", "tool_start.of_a_plan", "open.mode",
}

// Carries implements conformance.Carrier.
func (x *session) Supports(what string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !slices.Contains(never, what) && !x.lacks[what]
}
