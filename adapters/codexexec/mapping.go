package codexexec

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// Mapping lists every message and item of the runtime, in all versions, with the events that
// they become.
func (Adapter) Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped("message", "session_ready", "thread.started"),
		mapping.Mapped("message", "turn_start, thinking, user_message", "turn.started"),
		mapping.Mapped("message", "usage, result and done", "turn.completed"),
		mapping.Mapped("message", "error", "turn.failed"),
		mapping.Mapped("message", "notice retry; an error if the turn ends next, else notice warning", "error"),
		mapping.Mapped("message", "by the item's type", "item.started", "item.updated", "item.completed"),
		mapping.Mapped("item", "delta, block_end", "agent_message"),
		mapping.Mapped("item", "thinking", "reasoning"),
		mapping.Mapped("item", "plan", "todo_list"),
		mapping.Mapped("item", "tool_start, tool_result", "command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"),
		mapping.Mapped("item", "notice warning", "error"),
	)
}
