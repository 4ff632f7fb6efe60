package pi

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// The kinds of messages.
const (
	kindEvent  = "event"
	kindUpdate = "update"
	kindDialog = "dialog"
)

// Mapping lists every message of the runtime, in both dialects, with the events that it
// becomes. doc.go describes them in detail.
func (Adapter) Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped(kindEvent, "the result of a call; session_ready, model_changed", "response"),
		mapping.Mapped(kindEvent, "session_ready, of a transcript in the mode json", "session"),
		mapping.Mapped(kindEvent, "turn_start, thinking", "agent_start"),
		mapping.Mapped(kindEvent, "usage; result and done, or error, unless another attempt or agent_settled follows", "agent_end"),
		mapping.Mapped(kindEvent, "result and done, or error", "agent_settled"),
		mapping.Mapped(kindEvent, "user_message of a message of the user", "message_start"),
		mapping.Mapped(kindEvent, "block_end", "message_end"),
		mapping.Mapped(kindEvent, "by the step's type", "message_update"),
		mapping.Mapped(kindEvent, "tool_start", "tool_execution_start"),
		mapping.Mapped(kindEvent, "tool_output", "tool_execution_update"),
		mapping.Mapped(kindEvent, "tool_result", "tool_execution_end"),
		mapping.Mapped(kindEvent, "via of user_message", "queue_update"),
		mapping.Mapped(kindEvent, "block_end retracted, notice retry", "auto_retry_start"),
		mapping.Mapped(kindEvent, "error after the last attempt", "auto_retry_end"),
		mapping.Mapped(kindEvent, "compaction", "compaction_start", "compaction_end"),
		mapping.Mapped(kindEvent, "by the dialog's method", "extension_ui_request"),
		mapping.Mapped(kindEvent, "notice", "extension_error"),
		mapping.Mapped(kindUpdate, "delta", "text_delta"),
		mapping.Mapped(kindUpdate, "thinking", "thinking_delta", "thinking_end"),
		mapping.Mapped(kindDialog, "permission_request if its message describes a tool call, else interrupt", "confirm"),
		mapping.Mapped(kindDialog, "interrupt", "select", "input", "editor"),
		mapping.Mapped(kindDialog, "notice", "notify"),
		mapping.Ignored(kindUpdate, "the deltas open and close a block", "text_start", "text_end", "thinking_start"),
		mapping.Mapped(kindUpdate, "tool_input, on request", "toolcall_start", "toolcall_delta"),
		mapping.Ignored(kindUpdate, "the execution of the call has its input whole", "toolcall_end"),
		mapping.Ignored(kindDialog, "it draws the runtime's own screen", "setStatus", "setWidget", "setTitle", "set_editor_text"),
		mapping.Ignored(kindEvent, "a round of the agent within a turn", "turn_start", "turn_end"),
		mapping.Ignored(kindEvent, "the runtime's own list of what it has stored", "entry_appended"),
		mapping.Ignored(kindEvent, "the user's own settings", "thinking_level_changed", "session_info_changed", "model_changed"),
		mapping.Ignored(kindEvent, "commands of the client, not of the agent", "bash_execution_update"),
		mapping.Ignored(kindEvent, "the end of the compaction reports it", "summarization_retry_scheduled", "summarization_retry_attempt_start",
			"summarization_retry_finished", "session_compact_failed"),
	)
}

// knownUpdates are the steps of a message that the table has.
var knownUpdates = func() map[string]bool {
	out := map[string]bool{}
	for _, m := range (Adapter{}).Mapping() {
		if m.Kind == kindUpdate {
			out[m.Name] = true
		}
	}
	return out
}()

var ignored = func() map[string]bool {
	out := map[string]bool{}
	for _, m := range (Adapter{}).Mapping() {
		if m.Kind == kindEvent && m.Ignored != "" {
			out[m.Name] = true
		}
	}
	return out
}()

// isIgnored reports whether an event is known and becomes no event.
func isIgnored(name string) bool { return ignored[name] }
