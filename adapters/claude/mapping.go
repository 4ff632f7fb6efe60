package claude

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
)

// Mapping lists every message, block and request that the runtime's published
// types name, and some undocumented ones, with the events that they become. A
// test compares it with doc.go.
func Mapping() []adapters.Mapped {
	return slices.Concat(messageRows(), systemRows(), resultRows(), streamRows(), blockRows(), paramRows(), controlRows())
}

func mapped(kind, name, event string) adapters.Mapped {
	return adapters.Mapped{Kind: kind, Name: name, Event: event}
}

// ignored returns rows for names that are ignored for the same reason.
func ignored(kind, why string, names ...string) []adapters.Mapped {
	var out []adapters.Mapped
	for _, n := range names {
		out = append(out, adapters.Mapped{Kind: kind, Name: n, Ignored: why})
	}
	return out
}

func messageRows() []adapters.Mapped {
	return append([]adapters.Mapped{
		mapped("message", "assistant", "delta, block_end, thinking, tool_start, by its blocks; notice"),
		mapped("message", "user", "tool_result, user_message, by its blocks"),
		mapped("message", "system", "by its subtype"),
		mapped("message", "result", "usage, result, done, error, by its subtype"),
		mapped("message", "stream_event", "by its event"),
		mapped("message", "control_request", "permission_request, interrupt, notice, by its subtype"),
		mapped("message", "control_response", "session_ready; resolves a question in a transcript"),
		mapped("message", "control_cancel_request", "permission_resolved, interrupt_resolved"),
		mapped("message", "command_lifecycle", "turn_start, user_message, queue"),
		mapped("message", "conversation_reset", "notice"),
		mapped("message", "rate_limit_event", "notice, except for the status allowed"),
		mapped("message", "auth_status", "notice, if it carries an error"),
	}, slices.Concat(
		ignored("message", "a sign of life", "keep_alive", "control_request_progress"),
		ignored("message", "elapsed time only", "tool_progress"),
		ignored("message", "repeats the tools", "tool_use_summary"),
		ignored("message", "not part of the conversation", "prompt_suggestion"),
		ignored("message", "no event for titles", "session_title_changed"),
		ignored("message", "a standing instruction of the user; the turns that carry it out are events", "active_goal"),
	)...)
}

func systemRows() []adapters.Mapped {
	out := []adapters.Mapped{
		mapped("system", "init", "turn_start, model_changed, mode_changed"),
		mapped("system", "status", "compaction, mode_changed, notice"),
		mapped("system", "api_retry", "notice"),
		mapped("system", "compact_boundary", "compaction"),
		mapped("system", "task_started", "task"),
		mapped("system", "task_progress", "task"),
		mapped("system", "task_updated", "task"),
		mapped("system", "task_notification", "task"),
		mapped("system", "background_tasks_changed", "task"),
		mapped("system", "local_command_output", "delta, block_end"),
		mapped("system", "hook_response", "notice, if the hook failed"),
		mapped("system", "model_fallback", "notice, model_changed"),
		mapped("system", "model_refusal_fallback", "notice, model_changed"),
		mapped("system", "informational", "notice"),
		mapped("system", "notification", "notice"),
		mapped("system", "mirror_error", "notice"),
		mapped("system", "session_writes_lost", "notice"),
	}
	return slices.Concat(out,
		ignored("system", "its tool_result has status denied", "permission_denied"),
		ignored("system", "the stop reason of its message reports it", "model_refusal_no_fallback"),
		ignored("system", "hooks belong to the configuration", "hook_started", "hook_progress"),
		ignored("system", "an estimate; usage has the count", "thinking_tokens"),
		ignored("system", "turn events report it", "session_state_changed"),
		ignored("system", "for the runtime's own screen", "ui_invalidate"),
		ignored("system", "not part of the conversation", "session_title_changed", "commands_changed", "plugin_install", "files_persisted", "memory_recall", "elicitation_complete"),
		ignored("system", "a sign of life", "control_request_progress"),
		ignored("system", "the exit of the process reports it", "worker_shutting_down"),
	)
}

func resultRows() []adapters.Mapped {
	return []adapters.Mapped{
		mapped("result", "success", "usage, result, done; error, if is_error; done{stopped}, if aborted"),
		mapped("result", "error_during_execution", "usage, done{stopped}, error"),
		mapped("result", "error_max_turns", "usage, error"),
		mapped("result", "error_max_budget_usd", "usage, error"),
		mapped("result", "error_max_structured_output_retries", "usage, error"),
	}
}

func streamRows() []adapters.Mapped {
	out := []adapters.Mapped{
		mapped("stream", "message_start", "block_end retracted, of what an unfinished message left open"),
		mapped("stream", "content_block_start", "thinking, delta"),
		mapped("stream", "content_block_delta", "by its delta"),
		mapped("stream", "content_block_stop", "block_end"),
		mapped("stream", "message_delta", "usage of the window, with the turn's usage"),
		mapped("stream", "message_stop", "block_end"),
		mapped("stream", "error", "notice"),
		mapped("delta", "text_delta", "delta"),
		mapped("delta", "thinking_delta", "thinking"),
	}
	return slices.Concat(out,
		ignored("stream", "a sign of life", "ping"),
		ignored("delta", "hidden from the user", "signature_delta"),
		ignored("delta", "complete in the assistant line", "input_json_delta", "citations_delta"),
		ignored("delta", "compact_boundary reports it", "compaction_delta"),
	)
}

// blockRows lists the blocks of an assistant's message.
func blockRows() []adapters.Mapped {
	out := []adapters.Mapped{
		mapped("block", "text", "delta, block_end"),
		mapped("block", "thinking", "thinking"),
		mapped("block", "redacted_thinking", "thinking without text: activity"),
	}
	for _, n := range toolCallBlocks {
		out = append(out, mapped("block", n, "tool_start"))
	}
	for _, n := range toolResultBlocks {
		out = append(out, mapped("block", n, "tool_result"))
	}
	return slices.Concat(out,
		ignored("block", "compact_boundary reports it", "compaction"),
		ignored("block", "a file of the API's sandbox, which no client sees", "container_upload"),
		ignored("block", "model_fallback reports it", "fallback"),
		ignored("block", "lists what is available; nothing was done", "mcp_tool_listing"),
	)
}

// toolCallBlocks and toolResultBlocks include the blocks of the API's own
// tools.
var (
	toolCallBlocks   = []string{"tool_use", "server_tool_use", "mcp_tool_use"}
	toolResultBlocks = []string{"tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result"}
	ignoredBlocks = []string{"compaction", "container_upload", "fallback", "mcp_tool_listing"}
)

// paramRows lists the blocks of a user's message.
func paramRows() []adapters.Mapped {
	return append([]adapters.Mapped{
		mapped("param", "tool_result", "tool_result"),
		mapped("param", "text", "user_message, of a replay"),
	}, slices.Concat(
		ignored("param", "the client's own attachment; user_message has it", "image", "document", "search_result", "container_upload"),
		ignored("param", "a block of an assistant's message, never of a user's", "thinking", "redacted_thinking", "tool_use", "server_tool_use",
			"mcp_tool_use", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
			"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result", "fallback"),
		ignored("param", "compact_boundary reports it", "compaction"),
		ignored("param", "lists what is available; nothing was done", "tool_addition", "tool_removal", "mcp_tool_listing"),
	)...)
}

func controlRows() []adapters.Mapped {
	return append([]adapters.Mapped{
		mapped("control", "can_use_tool", "permission_request; interrupt, of AskUserQuestion and ExitPlanMode"),
		mapped("control", "hook_callback", "notice refused"),
		mapped("control", "mcp_message", "notice refused"),
		mapped("control", "elicitation", "notice refused"),
		mapped("control", "request_user_dialog", "notice refused"),
	}, slices.Concat(
		ignored("control", "a request of the adapter", "initialize", "interrupt", "mcp_status", "set_model", "set_permission_mode", "rewind_files", "stop_task"),
		ignored("control", "a request of a client, never of the runtime", "apply_flag_settings", "background_tasks", "cancel_async_message",
			"file_suggestions", "get_binary_version", "get_context_usage", "get_hooks_listing", "get_session_cost", "get_settings", "get_task_output",
			"get_usage", "list_models", "list_permission_rules", "mcp_call", "mcp_read_resource", "mcp_reconnect", "mcp_set_servers", "mcp_toggle",
			"read_file", "register_repo_root", "reload_output_styles", "reload_plugins", "reload_skills", "rename_session", "seed_read_state",
			"set_color", "set_has_subscribers", "set_max_thinking_tokens", "update_settings"),
	)...)
}
