package acp

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// The kinds of messages.
const (
	kindMethod = "method"
	kindUpdate = "update"
	kindStop   = "stop reason"
)

// Mapping lists every message of an agent, with the events that it becomes. doc.go describes
// them in detail.
func (Adapter) Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped(kindMethod, "by the update's kind", "session/update"),
		mapping.Mapped(kindMethod, "permission_request", "session/request_permission"),
		mapping.Mapped(kindMethod, "interrupt", "elicitation/create"),
		mapping.Mapped(kindMethod, "permission_resolved or interrupt_resolved", cancelRequest),
		mapping.Mapped(kindMethod, "mode_changed; an extension of Qwen Code", qwenMode),
		mapping.Mapped(kindMethod, "a reply, if the adapter offers files or terminals; else notice", "fs/read_text_file", "fs/write_text_file",
			"terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"),
		mapping.Mapped(kindUpdate, "delta", "agent_message_chunk"),
		mapping.Mapped(kindUpdate, "thinking", "agent_thought_chunk"),
		mapping.Mapped(kindUpdate, "tool_start, tool_output, tool_progress, tool_result; compaction by codex-acp", "tool_call", "tool_call_update"),
		mapping.Mapped(kindUpdate, "plan", "plan"),
		mapping.Mapped(kindUpdate, "by codex-acp: notice retry, or error when the turn ends; else nothing, as it is for the list of sessions", "session_info_update"),
		mapping.Mapped(kindUpdate, "mode_changed", "current_mode_update"),
		mapping.Mapped(kindUpdate, "mode_changed, model_changed", "config_option_update"),
		mapping.Mapped(kindUpdate, "usage, when the turn ends", "usage_update"),
		mapping.Mapped(kindStop, "done", "end_turn", "max_tokens", "max_turn_requests", "refusal"),
		mapping.Mapped(kindStop, "done, stopped", "cancelled"),
		mapping.Ignored(kindUpdate, "the turn begins with its message", "user_message_chunk"),
		mapping.Ignored(kindUpdate, "a list for the user to choose from", "available_commands_update"),
		mapping.Ignored(kindMethod, "answered with an error: messages that wait are in the adapter; an extension of Qwen Code", drainQueue),
		mapping.Ignored(kindMethod, "how the agent is signed in, an extension of codex-acp", "_auth/status_update"),
	)
}

var ignored = func() map[string]bool {
	out := map[string]bool{}
	for _, m := range (Adapter{}).Mapping() {
		if m.Ignored != "" {
			out[m.Kind+" "+m.Name] = true
		}
	}
	return out
}()

var knownUpdates = func() map[string]bool {
	out := map[string]bool{}
	for _, m := range (Adapter{}).Mapping() {
		if m.Kind == kindUpdate {
			out[m.Name] = true
		}
	}
	return out
}()

// isKnownUpdate reports whether the table has an update of this kind.
func isKnownUpdate(kind string) bool { return knownUpdates[kind] }

// isIgnored reports whether a message is known and becomes no event.
func isIgnored(kind, name string) bool { return ignored[kind+" "+name] }
