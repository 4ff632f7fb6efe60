// Package acp tests an agent of the Agent Client Protocol as a subject, without any
// additional code.
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
//	anything else                        notice
//	the end of the program               session_end
//
// Events contain more than ACP does: turn numbers, seq and ts, the decider of a
// permission, and the status interrupted for a tool call of a cancelled turn. This
// package fills them in, so Supports returns false for them, and the checks that need
// them are not expressible. The same applies to everything that ACP cannot express:
// ids of the runtime, exit codes, error codes, retracted text, ends of paragraphs, the
// queue, and the sub-agent of an event. ACP leaves some members to the agent, such as
// the raw input and output of a call, or the model's call ids: Supports returns true
// for these until an agent does not send them.
//
// An agent whose reply to initialize has the capability
// {"_meta":{"turnspec":{"can":["limits"]}}} gets {"turnspec":{"limits":{"start_ms",
// "stop_ms","stall_ms"}}} in _meta of session/new, resume and load, as in
// conformance/plug/jsonl/PROTOCOL.md. Then faults that show only after a wait are tried.
//
// A tool_start is emitted when the input of the call has arrived, or when the call
// has any effect. Updates that an agent sends during session/load are history and
// produce no events.
package acp
