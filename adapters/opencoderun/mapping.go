package opencoderun

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// Mapping lists every message of the runtime, with the events that it becomes.
func (Adapter) Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped("message", "session_ready, turn_start, thinking and user_message, if it is the first of its turn", "step_start"),
		mapping.Mapped("message", "usage; done, by its reason", "step_finish"),
		mapping.Mapped("message", "delta, block_end", "text"),
		mapping.Mapped("message", "thinking", "reasoning"),
		mapping.Mapped("message", "tool_start, tool_result; plan", "tool_use"),
		mapping.Mapped("message", "error", "error"),
	)
}
