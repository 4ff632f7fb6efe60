package claude

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/mapping"
)

// toolCallBlocks and toolResultBlocks include the blocks of the API's own
// tools.
var (
	toolCallBlocks   = []string{"tool_use", "server_tool_use", "mcp_tool_use"}
	toolResultBlocks = []string{"tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result"}
	ignoredBlocks = []string{"compaction", "container_upload", "fallback", "mcp_tool_listing"}
)

// Mapping lists every message, block and request that the runtime's published
// types name, and some undocumented ones, with the events that they become. A
// test compares it with doc.go. Kind block is a block of an assistant's message,
// param one of a user's.
func Mapping() []adapters.Mapped {
	return slices.Concat(
		mapping.Mapped("message", "delta, block_end, thinking, tool_start, by its blocks; notice", "assistant"),
		mapping.Mapped("message", "tool_result, user_message, by its blocks", "user"),
		mapping.Mapped("message", "by its subtype", "system"),
		mapping.Mapped("message", "usage, result, done, error, by its subtype", "result"),
		mapping.Mapped("message", "by its event", "stream_event"),
		mapping.Mapped("message", "permission_request, interrupt, notice, by its subtype", "control_request"),
		mapping.Mapped("message", "session_ready; resolves a question in a transcript", "control_response"),
		mapping.Mapped("message", "permission_resolved, interrupt_resolved", "control_cancel_request"),
		mapping.Mapped("message", "turn_start, user_message, queue", "command_lifecycle"),
		mapping.Mapped("message", "notice", "conversation_reset"),
		mapping.Mapped("message", "notice, except for the status allowed", "rate_limit_event"),
		mapping.Mapped("message", "notice, if it carries an error", "auth_status"),
		mapping.Ignored("message", "a sign of life", "keep_alive", "control_request_progress"),
		mapping.Mapped("message", "tool_progress, if it is about a tool that runs", "tool_progress"),
		mapping.Ignored("message", "repeats the tools", "tool_use_summary"),
		mapping.Ignored("message", "not part of the conversation", "prompt_suggestion"),
		mapping.Ignored("message", "no event for titles", "session_title_changed"),
		mapping.Ignored("message", "a standing instruction of the user; the turns that carry it out are events", "active_goal"),
		mapping.Mapped("system", "turn_start, model_changed, mode_changed", "init"),
		mapping.Mapped("system", "compaction, mode_changed, notice", "status"),
		mapping.Mapped("system", "notice", "api_retry"),
		mapping.Mapped("system", "compaction", "compact_boundary"),
		mapping.Mapped("system", "task", "task_started", "task_progress", "task_updated", "task_notification", "background_tasks_changed"),
		mapping.Mapped("system", "delta, block_end", "local_command_output"),
		mapping.Mapped("system", "notice, if the hook failed", "hook_response"),
		mapping.Mapped("system", "notice, model_changed", "model_fallback", "model_refusal_fallback"),
		mapping.Mapped("system", "notice", "informational", "notification", "mirror_error", "session_writes_lost"),
		mapping.Ignored("system", "its tool_result has status denied", "permission_denied"),
		mapping.Ignored("system", "the stop reason of its message reports it", "model_refusal_no_fallback"),
		mapping.Ignored("system", "hooks belong to the configuration", "hook_started", "hook_progress"),
		mapping.Ignored("system", "an estimate; usage has the count", "thinking_tokens"),
		mapping.Ignored("system", "turn events report it", "session_state_changed"),
		mapping.Ignored("system", "for the runtime's own screen", "ui_invalidate"),
		mapping.Ignored("system", "not part of the conversation", "session_title_changed", "commands_changed", "plugin_install",
			"files_persisted", "memory_recall", "elicitation_complete"),
		mapping.Ignored("system", "a sign of life", "control_request_progress"),
		mapping.Ignored("system", "the exit of the process reports it", "worker_shutting_down"),
		mapping.Mapped("result", "usage, result, done; error, if is_error; done{stopped}, if aborted", "success"),
		mapping.Mapped("result", "usage, done{stopped}, error", "error_during_execution"),
		mapping.Mapped("result", "usage, error", "error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries"),
		mapping.Mapped("stream", "block_end retracted, of what an unfinished message left open", "message_start"),
		mapping.Mapped("stream", "thinking, delta", "content_block_start"),
		mapping.Mapped("stream", "by its delta", "content_block_delta"),
		mapping.Mapped("stream", "block_end", "content_block_stop"),
		mapping.Mapped("stream", "usage of the window, with the turn's usage", "message_delta"),
		mapping.Mapped("stream", "block_end", "message_stop"),
		mapping.Mapped("stream", "notice", "error"),
		mapping.Mapped("delta", "delta", "text_delta"),
		mapping.Mapped("delta", "thinking", "thinking_delta"),
		mapping.Ignored("stream", "a sign of life", "ping"),
		mapping.Ignored("delta", "hidden from the user", "signature_delta"),
		mapping.Mapped("delta", "tool_input, on request", "input_json_delta"),
		mapping.Ignored("delta", "complete in the assistant line", "citations_delta"),
		mapping.Ignored("delta", "compact_boundary reports it", "compaction_delta"),
		mapping.Mapped("block", "delta, block_end", "text"),
		mapping.Mapped("block", "thinking", "thinking"),
		mapping.Mapped("block", "thinking without text: activity", "redacted_thinking"),
		mapping.Mapped("block", "tool_start", toolCallBlocks...),
		mapping.Mapped("block", "tool_result", toolResultBlocks...),
		mapping.Ignored("block", "compact_boundary reports it", "compaction"),
		mapping.Ignored("block", "a file of the API's sandbox, which no client sees", "container_upload"),
		mapping.Ignored("block", "model_fallback reports it", "fallback"),
		mapping.Ignored("block", "lists what is available; nothing was done", "mcp_tool_listing"),
		mapping.Mapped("param", "tool_result", "tool_result"),
		mapping.Mapped("param", "user_message, of a replay", "text"),
		mapping.Ignored("param", "the client's own attachment; user_message has it", "image", "document", "search_result", "container_upload"),
		mapping.Ignored("param", "a block of an assistant's message, never of a user's", "thinking", "redacted_thinking", "tool_use",
			"server_tool_use", "mcp_tool_use", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result",
			"code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
			"tool_search_tool_result", "advisor_tool_result", "fallback"),
		mapping.Ignored("param", "compact_boundary reports it", "compaction"),
		mapping.Ignored("param", "lists what is available; nothing was done", "tool_addition", "tool_removal", "mcp_tool_listing"),
		mapping.Mapped("control", "permission_request; interrupt, of AskUserQuestion and ExitPlanMode", "can_use_tool"),
		mapping.Mapped("control", "notice refused", "hook_callback", "mcp_message", "elicitation", "request_user_dialog"),
		mapping.Ignored("control", "a request of the adapter", "initialize", "interrupt", "mcp_status", "set_model", "set_permission_mode",
			"rewind_files", "stop_task"),
		mapping.Ignored("control", "a request of a client, never of the runtime", "apply_flag_settings", "background_tasks",
			"cancel_async_message", "file_suggestions", "get_binary_version", "get_context_usage", "get_hooks_listing", "get_session_cost",
			"get_settings", "get_task_output", "get_usage", "list_models", "list_permission_rules", "mcp_call", "mcp_read_resource",
			"mcp_reconnect", "mcp_set_servers", "mcp_toggle", "read_file", "register_repo_root", "reload_output_styles", "reload_plugins",
			"reload_skills", "rename_session", "seed_read_state", "set_color", "set_has_subscribers", "set_max_thinking_tokens",
			"update_settings"),
	)
}
