// Package message holds the messages that a runner writes: one JSON object on each line,
// with its type. It is not part of the stable interface. A [Translator] makes them from
// events.
//
// # Types
//
//	ready, init, session_started, session_id_update,
//	session_ended, turn_start, turn_complete,
//	complete, shutdown                                    the life of a conversation
//	assistant_text, text_retracted, thinking_start,
//	thinking_delta, thinking                              what the model says
//	tool_start, tool_output, tool_progress, tool_end,
//	hook_pre_tool, hook_post_tool                         what it does
//	subagent_started, subagent_stopped                    and lets others do
//	permission_request, permission_resolved,
//	user_question_request, plan_approval_request,
//	request_resolved                                      what it asks
//	todo_update, message_queue                            what is left to do
//	result, context_usage, context_window_size,
//	compact_boundary                                      figures
//	checkpoint_created, files_rewound                     files
//	listing                                               models, commands, MCP servers, the account
//	model_changed, permission_mode_changed                settings
//	agent_notification, agent_stop, interrupted,
//	auth_error, error                                     how it went
//	supported_models, supported_commands, mcp_status,
//	account_info                                          replies to requests
//
// # Text
//
// Text comes in paragraphs: a message assistant_text ends at an empty line, at the end of its
// block, before anything else that the model does, or, if a paragraph is longer than 4,096
// bytes, at a line's end. A runner sends what waits longer than half a second. Nothing is left out and nothing is added, so the messages of a block
// joined are its text. Another block_id begins another paragraph. Text of sub-agents is left
// out; their tools have an agent_id.
//
// If the runtime retracts or replaces a block after parts of it were sent, text_retracted
// names it. The text that replaces it follows as assistant_text with the same block_id.
//
// # Tools
//
// Each tool_start has exactly one tool_end, also if the tool never answered. A tool that runs
// on in the background ends its call; background is set.
package message
