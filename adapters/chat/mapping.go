package chat

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// The kinds of what a server sends.
const (
	kindLine  = "line"
	kindDelta = "delta"
)

// Mapping lists everything that a server sends, with the events that it becomes. doc.go
// describes it in detail.
func (Adapter) Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped(kindLine, "an attempt fails: notice retry, or error", "error", "status"),
		mapping.Mapped(kindLine, "by the members of its delta; usage", "data"),
		mapping.Mapped(kindLine, "block_end; tool_start of each call, or result and done", "end"),
		mapping.Mapped(kindDelta, "delta", "content", "refusal"),
		mapping.Mapped(kindDelta, "thinking", "reasoning_content", "reasoning", "reasoning_text"),
		mapping.Mapped(kindDelta, "tool_start, when the reply is complete", "tool_calls"),
		mapping.Mapped(kindDelta, "the reason of done", "finish_reason"),
		mapping.Ignored(kindLine, "it ends the stream, and end follows", "[DONE]"),
		mapping.Ignored(kindLine, "it keeps the connection open", "comment"),
		mapping.Ignored(kindDelta, "it is always that of the model", "role"),
	)
}
