// Package claude is the adapter for Claude Code.
//
// It runs one process for the whole session (claude -p, stream-json in and out)
// and speaks its control protocol; New returns the adapter. Adapter.Transcribe converts
// recorded stdout of any version, beginning anywhere. Both use one translator. It
// also reads session files.
// Tested versions: 2.1.197 and 2.1.332. The program is Options.Command, else
// CLAUDE_CODE_EXECUTABLE, else claude. Options.Instructions are --append-system-prompt, or
// --system-prompt if they replace the runtime's own. Options.Effort is --effort,
// MaxRequests --max-turns, MaxCost --max-budget-usd, ExtraDirs --add-dir, and SettingSources
// --setting-sources. Settings are in files, or in an argument
// of Options.Args: there is no Options.Config.
//
// # Messages
//
//	control_response to initialize   session_ready
//	system/init (each turn)          turn_start; model_changed, mode_changed if they differ; never a second session_ready
//	command_lifecycle queued         nothing (in a transcript: queue)
//	command_lifecycle started        the next turn takes the message, or, within a turn, user_message via merge; queue
//	command_lifecycle completed      nothing; if no result follows within Limits.Stop, the turn ends in error protocol
//	command_lifecycle cancelled      queue, if the message waited
//	stream_event                     see Text; of a sub-agent: ignored, because its assistant line has the whole message
//	assistant                        see Text and Tools
//	assistant with an API error      the code and text of the turn's error; a notice if the turn continues; of a sub-agent: notice
//	assistant by <synthetic>         delta if it is the output of a local command, else notice: the model did not write it
//	user with tool_result            tool_result
//	user with isReplay               user_message, if no lifecycle reported it; other echoes: ignored, they repeat our own lines
//	user "[Request interrupted…"     ignored: it only marks the turn as stopped
//	user, other text                 ignored: written by the runtime (hook feedback, summaries, nudges), or a sub-agent's prompt
//	result                           usage, then result and done, or done{stopped}, or error
//	result before the handshake      the *OpenError of Open (an unknown session)
//	result of a turn that has ended  ignored: a duplicate
//	control_request can_use_tool     permission_request; AskUserQuestion and ExitPlanMode: interrupt; without a turn or such a sub-agent: denied, notice refused
//	control_request elicitation      interrupt "elicitation" of an MCP server; its props are the request
//	control_request mcp_message      nothing: the client replies as the MCP server "client", whose tools are Options.Tools
//	control_request hook_callback    nothing: the hook of Options.Hooks runs and its reply is sent
//	control_request, other           error reply at once, notice refused (in a transcript hook_callback and mcp_message are ignored: its client handled them)
//	control_cancel_request           permission_resolved or interrupt_resolved, by withdrawn
//	control_response to others       ignored: echoes of our own replies (in a transcript they resolve the question)
//	conversation_reset               notice; after /clear the session has another id, which the next line names (also a notice, its raw is {"session_id":…})
//	rate_limit_event                 notice, ignored while the status is allowed
//	auth_status                      notice if it has an error, else ignored
//	tool_progress                    tool_progress of the call that its parent_tool_use_id names; ignored if its time is 0, as
//	                                 in those about retries of sub-agents and scripts, or that of a hook
//	tool_use_summary                 ignored: repeats the tools
//	prompt_suggestion                ignored: not part of the conversation
//	session_title_changed            ignored: no event for titles
//	control_request_progress         ignored: a sign of life
//	keep_alive                       ignored: a sign of life
//	active_goal                      ignored: a standing instruction of the user; the turns that carry it out are events
//	anything else                    notice unknown_message with the raw message; the turn continues
//	not JSON                         notice garbage
//
// System messages by subtype:
//
//	status compacting                compaction start (with /compact it starts a turn)
//	status, compact_result failed    compaction end, notice; the assistant line that repeats it is ignored. A turn
//	                                 that was stopped meanwhile is done{stopped}
//	status requesting                ignored: turn events report it
//	status with permissionMode       mode_changed
//	compact_boundary                 compaction end
//	api_retry                        notice retry; silence is expected until the next line of the turn
//	task_started, task_progress, task_updated, task_notification, background_tasks_changed   task: see Tasks
//	permission_denied                ignored: its tool_result has status denied
//	model_fallback, model_refusal_fallback   notice, model_changed
//	model_refusal_no_fallback        ignored: the stop reason of its message reports it
//	worker_shutting_down             ignored: the exit of the process reports it
//	informational, notification, mirror_error, session_writes_lost   notice
//	local_command_output             delta
//	hook_response                    notice if the hook failed, else ignored: hooks belong to the configuration
//	hook_started, hook_progress      ignored: as above
//	thinking_tokens                  ignored: an estimate; usage has the count
//	session_state_changed            ignored: turn events report it
//	ui_invalidate                    ignored: for the runtime's own screen
//	session_title_changed, commands_changed, plugin_install   ignored: not part of the conversation
//	files_persisted, memory_recall, elicitation_complete       ignored: as above
//	control_request_progress         ignored: a sign of life
//
// # Text
//
// A block's key is the model's message and the block's index.
//
//	message_start                    blocks of an unfinished message are retracted, because the model repeats them
//	content_block_start              of reasoning: an empty thinking (activity), no block
//	text_delta, thinking_delta       delta, thinking
//	input_json_delta                 tool_input, on request; content_block_start of a tool announces it
//	signature_delta, citations_delta, compaction_delta   ignored: hidden, or complete in the assistant line
//	assistant line of a streamed block   block_end complete; replaced if the text differs; interrupted if aborted
//	assistant line that was not streamed (no partials, fallback, sub-agents)   one delta and block_end, or one thinking and its end
//	content_block_stop               closes reasoning, and a text block if an older version does not mark aborted ones
//	message_delta                    usage of the context window; a stop_reason other than a normal end: notice
//	ping                             ignored: a sign of life
//	message_stop                     closes; with abandoned_blocks: retracted, or interrupted if the turn was
//	error                            notice
//	redacted_thinking, thinking without text   only activity
//
// If a message with another id follows an unfinished stream of an older version, the
// stream is retracted. Reasoning that is repeated is closed and then retracted too.
//
// # Tools
//
//	tool_use                         tool_start with the runtime's normalized input; Agent and Task: subagent_spawn; TodoWrite: also plan
//	tool_result of TaskCreate, TaskUpdate, TaskList   also plan, if it changed the list
//	server_tool_use, mcp_tool_use    the same
//	tool_result                      text blocks joined by newlines; other blocks (images, references) are omitted
//	mcp_tool_result, web_search_tool_result, web_fetch_tool_result, code_execution_tool_result, bash_code_execution_tool_result,
//	text_editor_code_execution_tool_result, tool_search_tool_result, advisor_tool_result   the same, in the assistant's message
//	compaction, container_upload, fallback, mcp_tool_listing   ignored: other messages report it, or nothing was done
//
// status is denied if the client or a rule denied the tool, interrupted if a stop
// cut it, backgrounded if the runtime put it into the background, else by is_error.
// exit_code comes from "Exit code N". changes come from structuredPatch (hunks
// without file headers), the sources of a notebook's cell, or the whole content of a
// created file. A result of a tool that never started is a notice late.
//
// # Tasks
//
// A sub-agent's id is the runtime's task id if it is known by the sub-agent's first
// line, else the id of the tool call that started it; it does not change. A slow
// command in the foreground is no task. task_updated only records an end, which
// task_notification or, without one, the list of background tasks then reports once.
// (In versions without lifecycles task_updated is the end, because the rest arrives
// after the turn.) Lines of a sub-agent that has ended are dropped.
//
// # Lists of steps
//
// 2.1.197 offers the model TaskCreate, TaskUpdate, TaskGet and TaskList. 2.1.329
// does so only if CLAUDE_CODE_ENABLE_TODO_TOOLS is 1, and offers TodoWrite instead
// if CLAUDE_CODE_ENABLE_TASKS is also 0. Tasks created before a session was resumed
// are unknown to the adapter until the model lists them.
//
// # Hooks
//
// A client may register any event, but the control protocol never calls some of
// them: Setup, InstructionsLoaded, SessionEnd, SessionStart except after a
// compaction, and CwdChanged after a command's cd. 2.1.197 calls no Notification for
// an open question or a changed model. No hook is called for a tool that the mode
// denies. PermissionRequest is called in addition to the question to the user, which
// is withdrawn if the hook decides. A call without a reply within Hook.Timeout is
// cancelled, and its tool does not run: its result is an error.
//
// # Judge
//
// A PreToolUse hook of the adapter calls Options.Judge before every tool call, also
// of sub-agents, in every mode, and for calls that are never asked about (reading,
// searching, edits in accept-edits, anything in never). can_use_tool calls it again:
// that question is emitted and then resolved by policy. The user's answer to such a
// question is held back until the judge has decided.
//
//	deny    the hook denies: the tool_result has status denied and the model receives the reason. No permission_request
//	allow   the hook returns nothing and the mode decides; a question that follows is allowed. In dont-ask the hook allows
//	ask     the hook returns nothing and the mode decides; a question that follows is for the user
//
// The judge may deny AskUserQuestion and ExitPlanMode; only the user answers them.
// Workspace settings cannot disable the hook (disableAllHooks), and rules that allow
// do not override it. The adapter adds --settings {"disableSkillShellExecution":true},
// because commands inside a skill or a command of the workspace run without any hook.
// Therefore Open fails if Options.Args contains --settings or --bare, and if
// CLAUDE_CODE_SIMPLE is set: these start the runtime without hooks although it
// reports hooks_applied. Unenforceable lists the remaining gaps.
//
// # Calls
//
//	Send      user line; uuid is the message id if that is a UUID, else derived from session and id
//	Stop      interrupt; before the turn has begun it is sent when it begins. Waiting messages run next
//	StopAll   interrupt with cancel_queued; 2.1.197 does not support it: cancel_async_message for each, and interrupt
//	StopTask  stop_task
//	Withdraw  cancel_async_message of a waiting message
//	Answer    allow (with the input, which older versions require, or with Answer.Input), deny, cancel is deny with interrupt
//	          scope session and always: the runtime's own suggestions, for the session or unchanged; ErrUnsupported if there are none
//	          a question takes Answer.Value: the answers by question, a string or a list each, {"answers":…}, or false / "deny" / {"approved":false}
//	          an MCP server's question takes the form's content, or {"action":…,"content":…}
//	SetModel  set_model; the reply has the model's full name: model_changed
//	SetMode   set_permission_mode; a status line confirms it: mode_changed. An error reply to either is ErrRefused
//	Compact   user line "/compact"; its turn has cause command and no message
//	Rewind    rewind_files with the message's uuid; Options.Checkpoints sets CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING,
//	          and each message that a turn takes is a checkpoint created
//	Rename    rename_session
//	Close     open questions are denied, the turn is interrupted, stdin is closed
//	Ping      mcp_status
//
// Options.At is the uuid of an assistant line (--resume-session-at). No event carries
// it: it is for clients that store the wire. A running session cannot be reverted,
// and no session can be archived.
//
// # Modes
//
//	ask            --permission-mode default
//	accept-edits   --permission-mode acceptEdits
//	never          --permission-mode bypassPermissions
//	empty          no option: as the runtime is configured
//	dont-ask       --permission-mode dontAsk
//	any other      --permission-mode with that name (plan, auto)
//
// # Tools and hooks of the client
//
// Options.MCP becomes --mcp-config; Options.Tools, Options.Hooks and Options.Schema
// are part of the handshake. If the runtime cancels a tool call
// (notifications/cancelled, when its turn is stopped), the adapter replies with an
// error at once; a call that is withdrawn gets no reply. Close cancels running calls.
//
// # Decisions
//
//   - A new session and a fork get --session-id, so that session_ready can name it
//     before the first message. A resumed session keeps its id.
//   - --replay-user-messages is always set, because versions without lifecycles have
//     no other way to report that a message was put into a running turn.
//   - --forward-subagent-text is set too: without it, text of foreground sub-agents
//     is not reported. A version that rejects the option exits at once and is
//     started again without it.
//   - Without lifecycles a turn takes the messages that were echoed before it and
//     the next one. Of messages that it merges, the runtime echoes all but the last
//     before the turn, and the last one in the turn with the text of all.
//   - A turn that the runtime starts without a message has cause task.
//   - A turn that was pre-empted (priority now) ends stopped, like an interrupted one.
//   - usage.tokens counts the turn's main agent; input includes cached tokens.
//     cost is the session's so far, also across resume.
//   - An error's text is the runtime's. server_error without details is the model's;
//     an API that cannot be reached is network.
//   - If a second init arrives in a turn while the model is not within a message, and
//     no tool is open or a message waits, the turn's result was lost: the turn ends in
//     error protocol, and the next one starts. The same holds if the turn's message
//     is completed when the next one is started.
package claude
