// Package conversation tests a runner as a subject: a program that runs one conversation,
// reads commands from stdin and writes messages to stdout, as adapters/backend/runner does.
//
// A runner is started once for each session with
//
//	--cwd DIR --permission-mode MODE [--resume ID [--fork]] [--mcp-servers-file FILE]
//
// behind the arguments of its command, and finds a stand-in for its runtime in PATH. Its
// messages (adapters/backend/runner/message) become events:
//
//	session_started                     session_ready
//	turn_start                          turn_start, user_message
//	assistant_text, text_retracted      delta, block_end
//	thinking_delta, thinking            thinking
//	tool_start, tool_output, tool_end   tool_start, tool_output, tool_result
//	permission_request, …_resolved      permission_request, permission_resolved
//	user_question_request,
//	plan_approval_request,
//	request_resolved                    interrupt, interrupt_resolved
//	subagent_started, subagent_stopped  task
//	todo_update                         plan
//	context_usage, context_window_size  usage
//	interrupted, error, result          done or error, when turn_complete follows
//	session_ended                       session_end
//
// Messages hold less than events do: Supports lists what is missing, and the checks that need
// it are not expressible. A runner fails as a whole if a line is no message, if a message
// follows shutdown, and if it ends without shutdown.
package conversation
