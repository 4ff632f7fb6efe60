// Package acp lets an agent of the Agent Client Protocol be a subject, without any
// code of its own.
//
// The agent is a program that wraps a runtime. This package is its client: it
// starts the agent, which finds a stand-in for its runtime, and translates what
// the agent sends to events:
//
//	ACP                                  events
//	session/new, session/resume, load    session_ready
//	session/prompt                       turn_start, user_message
//	agent_message_chunk                  delta
//	agent_thought_chunk                  thinking
//	tool_call, tool_call_update          tool_start, tool_result
//	session/request_permission           permission_request; the reply is the answer
//	plan                                 plan
//	current_mode_update                  mode_changed
//	usage_update, usage of a prompt      usage
//	stopReason cancelled                 done, stopped
//	another stopReason, an error         done, error
//	all for which there is no event      notice
//	the end of the program               session_end
//
// Events hold more than ACP does: turn numbers, seq and ts, who decided a
// permission, that a tool call of a cancelled turn is interrupted. This package
// makes these up, so Supports denies them, and the checks that need them are not
// expressible. The same holds for what ACP cannot express: ids of the runtime, exit
// codes, error codes, retracted text, ends of paragraphs, the queue, and which
// sub-agent sent something. Some things ACP leaves to the agent, such as the raw
// input and output of a call, or call ids that are the model's: these are supported
// until an agent turns out not to send them.
//
// A tool_start is emitted when the input of the call is known, or when the call has
// any effect. Updates that an agent sends during session/load are history and no
// events.
package acp
