// Package acp answers one question: how does an agent of the Agent Client
// Protocol stand as a subject, with no code at all?
//
// The agent is a program that wraps a runtime. This package is its client: it
// starts it, where it finds a stand-in for its runtime, and tells what it says
// as events:
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
//	what it has no other word for        notice
//	the end of the program               session_end
//
// What a client shows of ACP is more than ACP says: the number of a turn, seq
// and ts, who decided a permission, that a call of a cancelled turn is
// interrupted. All that is this package's own, so that nobody may be blamed or
// praised for it: Carries denies it, and checks that need it are not
// expressible. So are ids of the runtime, exit codes, codes of errors, text that
// is taken back, where a paragraph ends, what is queued, and which sub-agent says
// something. Of some ACP says that an agent may give it (the input and output of a
// call as they are, ids of calls that are the model's): that is carried as long
// as the agent does.
//
// A call is told as a tool_start when its input is known, or when anything comes
// of it. What an agent replays while session/load runs is history, as ACP has
// it, and no event.
package acp
