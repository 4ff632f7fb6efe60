// Package acpagent lets an adapter be an agent of the Agent Client Protocol (ACP) over
// stdio, which editors start. It is not part of the stable interface.
//
//	initialize                      modes and session/resume, if the adapter has them
//	session/new, session/resume     Open; the id of the session is the runtime's
//	session/set_mode                SetMode
//	session/prompt                  Send; the reply is the end of the turn
//	session/cancel                  Stop
//	session/close, end of stdin     Close
//
// Events become updates:
//
//	delta, thinking                 agent_message_chunk, agent_thought_chunk
//	tool_start, tool_result         tool_call, tool_call_update: rawInput and rawOutput are the runtime's
//	permission_request              session/request_permission; its outcome is the answer
//	tool_output                     part of the result, if that does not repeat it
//	result                          agent_message_chunk, if the turn has no other text
//	plan, mode_changed              plan, current_mode_update
//	usage                           the usage of the reply, if it is that of the turn
//	done                            the reply: end_turn, or cancelled if the turn was stopped
//	error                           an error as the reply; its data names the code
//
// A plan to approve, and a question with one choice, are session/request_permission too. ACP has no other
// questions, which can only be declined, no blocks, no retracted text and no place for the work of
// sub-agents, of which only the permission requests reach the client. A turn that the runtime begins by
// itself has no prompt: its updates come without a reply, after that of the turn before. Prompts are text and links.
//
// A Translator makes the same messages of stored events.
package acpagent
