package claude

import (
	"slices"

	"github.com/turnspec/turnspec/adapters"
)

// Mapping is what becomes of each message, block and request that the runtime's
// published types name, and of those that it sends beside them. doc.go says the
// same in words; a test holds both together.
func Mapping() []adapters.Mapped {
	return slices.Concat(messages(), systems(), results(), streams(), blocks(), params(), controls())
}

func to(kind, name, event string) adapters.Mapped {
	return adapters.Mapped{Kind: kind, Name: name, Event: event}
}

// ignored are names that become nothing for the same reason.
func ignored(kind, why string, names ...string) []adapters.Mapped {
	var out []adapters.Mapped
	for _, n := range names {
		out = append(out, adapters.Mapped{Kind: kind, Name: n, Ignored: why})
	}
	return out
}

func messages() []adapters.Mapped {
	return append([]adapters.Mapped{
		to("message", "assistant", "delta, block_end, thinking, tool_start, by its blocks; notice"),
		to("message", "user", "tool_result, user_message, by its blocks"),
		to("message", "system", "by its subtype"),
		to("message", "result", "usage, result, done, error, by its subtype"),
		to("message", "stream_event", "by its event"),
		to("message", "control_request", "permission_request, interrupt, notice, by its subtype"),
		to("message", "control_response", "session_ready; resolves a question in a transcript"),
		to("message", "control_cancel_request", "permission_resolved, interrupt_resolved"),
		to("message", "command_lifecycle", "turn_start, user_message, queue"),
		to("message", "conversation_reset", "notice"),
		to("message", "rate_limit_event", "notice, but for the status allowed"),
		to("message", "auth_status", "notice, if it carries an error"),
	}, slices.Concat(
		ignored("message", "a sign of life", "keep_alive", "control_request_progress"),
		ignored("message", "elapsed time only", "tool_progress"),
		ignored("message", "a second telling of the tools", "tool_use_summary"),
		ignored("message", "not part of the conversation", "prompt_suggestion"),
		ignored("message", "no event for titles", "session_title_changed"),
		ignored("message", "a standing order of the user, which the turns carry out", "active_goal"),
	)...)
}

func systems() []adapters.Mapped {
	out := []adapters.Mapped{
		to("system", "init", "turn_start, model_changed, mode_changed"),
		to("system", "status", "compaction, mode_changed, notice"),
		to("system", "api_retry", "notice"),
		to("system", "compact_boundary", "compaction"),
		to("system", "task_started", "task"),
		to("system", "task_progress", "task"),
		to("system", "task_updated", "task"),
		to("system", "task_notification", "task"),
		to("system", "background_tasks_changed", "task"),
		to("system", "local_command_output", "delta, block_end"),
		to("system", "hook_response", "notice, if the hook failed"),
		to("system", "model_fallback", "notice, model_changed"),
		to("system", "model_refusal_fallback", "notice, model_changed"),
		to("system", "informational", "notice"),
		to("system", "notification", "notice"),
		to("system", "mirror_error", "notice"),
		to("system", "session_writes_lost", "notice"),
	}
	return slices.Concat(out,
		ignored("system", "its tool_result says denied", "permission_denied"),
		ignored("system", "the stop reason of its message tells", "model_refusal_no_fallback"),
		ignored("system", "hooks are the configuration's", "hook_started", "hook_progress"),
		ignored("system", "an estimate; usage tells", "thinking_tokens"),
		ignored("system", "turns tell", "session_state_changed"),
		ignored("system", "of the runtime's own screen", "ui_invalidate"),
		ignored("system", "no part of the conversation", "session_title_changed", "commands_changed", "plugin_install", "files_persisted", "memory_recall", "elicitation_complete"),
		ignored("system", "a sign of life", "control_request_progress"),
		ignored("system", "the end of the process tells", "worker_shutting_down"),
	)
}

func results() []adapters.Mapped {
	return []adapters.Mapped{
		to("result", "success", "usage, result, done; error, if is_error; done{stopped}, if aborted"),
		to("result", "error_during_execution", "usage, done{stopped}, error"),
		to("result", "error_max_turns", "usage, error"),
		to("result", "error_max_budget_usd", "usage, error"),
		to("result", "error_max_structured_output_retries", "usage, error"),
	}
}

func streams() []adapters.Mapped {
	out := []adapters.Mapped{
		to("stream", "message_start", "block_end retracted, of what an unfinished message left open"),
		to("stream", "content_block_start", "thinking, delta"),
		to("stream", "content_block_delta", "by its delta"),
		to("stream", "content_block_stop", "block_end"),
		to("stream", "message_delta", "usage of the window, with the turn's usage"),
		to("stream", "message_stop", "block_end"),
		to("stream", "error", "notice"),
		to("delta", "text_delta", "delta"),
		to("delta", "thinking_delta", "thinking"),
	}
	return slices.Concat(out,
		ignored("stream", "a sign of life", "ping"),
		ignored("delta", "hidden from the user", "signature_delta"),
		ignored("delta", "whole in the assistant line", "input_json_delta", "citations_delta"),
		ignored("delta", "compact_boundary tells", "compaction_delta"),
	)
}

// blocks are those of an assistant's message.
func blocks() []adapters.Mapped {
	out := []adapters.Mapped{
		to("block", "text", "delta, block_end"),
		to("block", "thinking", "thinking"),
		to("block", "redacted_thinking", "thinking without text: activity"),
	}
	for _, n := range callBlocks {
		out = append(out, to("block", n, "tool_start"))
	}
	for _, n := range resultBlocks {
		out = append(out, to("block", n, "tool_result"))
	}
	return slices.Concat(out,
		ignored("block", "compact_boundary tells", "compaction"),
		ignored("block", "a file of the API's sandbox, which no client sees", "container_upload"),
		ignored("block", "model_fallback tells", "fallback"),
		ignored("block", "what is on offer, not what is done", "mcp_tool_listing"),
	)
}

// callBlocks and resultBlocks are the blocks of tools, the API's own among them.
var (
	callBlocks   = []string{"tool_use", "server_tool_use", "mcp_tool_use"}
	resultBlocks = []string{"tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result"}
	quietBlocks = []string{"compaction", "container_upload", "fallback", "mcp_tool_listing"}
)

// params are the blocks of a user's message.
func params() []adapters.Mapped {
	return append([]adapters.Mapped{
		to("param", "tool_result", "tool_result"),
		to("param", "text", "user_message, of a replay"),
	}, slices.Concat(
		ignored("param", "the client's own attachment: user_message has it from the client", "image", "document", "search_result", "container_upload"),
		ignored("param", "a block of an assistant's message, which a user's never brings", "thinking", "redacted_thinking", "tool_use", "server_tool_use",
			"mcp_tool_use", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
			"bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result", "advisor_tool_result", "fallback"),
		ignored("param", "compact_boundary tells", "compaction"),
		ignored("param", "what is on offer, not what is done", "tool_addition", "tool_removal", "mcp_tool_listing"),
	)...)
}

func controls() []adapters.Mapped {
	return append([]adapters.Mapped{
		to("control", "can_use_tool", "permission_request; interrupt, of AskUserQuestion and ExitPlanMode"),
		to("control", "hook_callback", "notice refused"),
		to("control", "mcp_message", "notice refused"),
		to("control", "elicitation", "notice refused"),
		to("control", "request_user_dialog", "notice refused"),
	}, slices.Concat(
		ignored("control", "a request that the adapter makes itself", "initialize", "interrupt", "mcp_status", "set_model", "set_permission_mode", "rewind_files", "stop_task"),
		ignored("control", "a request of a client's; the runtime makes none", "apply_flag_settings", "background_tasks", "cancel_async_message",
			"file_suggestions", "get_binary_version", "get_context_usage", "get_hooks_listing", "get_session_cost", "get_settings", "get_task_output",
			"get_usage", "list_models", "list_permission_rules", "mcp_call", "mcp_read_resource", "mcp_reconnect", "mcp_set_servers", "mcp_toggle",
			"read_file", "register_repo_root", "reload_output_styles", "reload_plugins", "reload_skills", "rename_session", "seed_read_state",
			"set_color", "set_has_subscribers", "set_max_thinking_tokens", "update_settings"),
	)...)
}
