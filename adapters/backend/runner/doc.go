// Package runner runs one conversation in one process: it reads commands from its
// input and writes messages (package message) to its output, one JSON object on each line.
// Behind it is a session of any adapter.
//
// # Commands
//
//	message                 content, id?, attachments?: a message of the user. Messages run one after
//	                        another; those that come during a turn wait in the runner's queue
//	interrupt               stop the running turn. The queue stays. Nothing if no turn runs
//	stop                    drop the queue, and end when the running turn has ended
//	set_model               model
//	set_permission_mode     mode: bypassPermissions, default, acceptEdits, plan, dontAsk, or one of the runtime's
//	permission_response     request_id, decision: allow, deny or cancel; message?, input?, scope?
//	user_question_response  request_id, answers
//	plan_approval_response  request_id, approved, reason?
//	rewind_files            checkpoint_id, dry_run?
//	get_supported_models, get_supported_commands, get_mcp_status, get_account_info
//	                        answered by a message listing, with the command as request
//
// A command that fails is answered by a message error, with its type as request.
//
// An attachment has a kind (image or file) and one of path, url, data (base64, with mime) and
// content. The content of a file becomes a part of the message's text, within an attached_file
// element.
//
// When the input ends, the messages in the queue still run, and open requests are refused,
// because their answers can no longer arrive.
//
// # Limits
//
// Text that waits for the end of its paragraph is written after [Config.TextDelay] at the latest,
// and before a notice that comes after it.
// A request waits for its answer for [Config.AnswerLimit], and is then refused. A tool that
// runs is reported every [Config.ProgressEvery] by tool_progress.
//
// # The end
//
// However the conversation ends, the runner (1) takes no more messages, (2) cancels what it
// was doing, (3) refuses the open requests, (4) ends the tools that run, (5) writes the text
// that waits, (6) stops the turn and ends the session, with its MCP servers, (7) stops waiting
// for messages, (8) stops reading its input and (9) writes shutdown, which is its last message.
package runner
