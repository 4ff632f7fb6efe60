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
		mapping.Mapped(kindDelta, "delta; thinking, of parts of that type", "content"),
		mapping.Mapped(kindDelta, "delta", "refusal", "audio"),
		mapping.Mapped(kindDelta, "thinking", "reasoning_content", "reasoning", "reasoning_text"),
		mapping.Mapped(kindDelta, "thinking, if no other member holds it", "reasoning_details"),
		mapping.Mapped(kindDelta, "a notice: they are not shown", "images"),
		mapping.Mapped(kindDelta, "tool_start, when the reply is complete", "tool_calls", "function_call"),
		mapping.Mapped(kindDelta, "the reason of done", "finish_reason"),
		mapping.Mapped(kindLine, "the reply is complete, also if it states no reason", "[DONE]"),
		mapping.Ignored(kindLine, "it keeps the connection open", "comment"),
		mapping.Ignored(kindDelta, "it is always that of the model", "role"),
		mapping.Ignored(kindDelta, "they point into the text", "annotations"),
		mapping.Ignored(kindDelta, "signatures, which go back to the server with their calls", "extra_content"),
	)
}
