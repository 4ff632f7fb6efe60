// Package claude answers one question: what does Claude Code say, in events?
//
// It runs one process for the whole session (claude -p, stream-json in and out)
// and speaks its control protocol; New gives the adapter. NewNormalizer reads
// stdout alone, of any version, beginning anywhere; both share one translator.
// Seen: 2.1.197 and 2.1.329. The program is Options.Command, else
// CLAUDE_CODE_EXECUTABLE, else claude.
//
// # Messages
//
//	control_response to initialize   session_ready
//	system/init (each turn)          turn_start; model_changed, mode_changed when they differ; never session_ready again
//	command_lifecycle queued         nothing (in a transcript: queue)
//	command_lifecycle started        the coming turn takes the message, or, within a turn, user_message via merge; queue
//	command_lifecycle completed      nothing; without a result within Limits.Stop the turn ends in error protocol
//	command_lifecycle cancelled      queue, if the message waited
//	stream_event                     see Text; of a sub-agent: ignored, its assistant line tells it whole
//	assistant                        see Text and Tools
//	assistant with an API error      the code and text of the turn's error; a notice when the turn goes on; of a sub-agent: notice
//	assistant by <synthetic>         delta if it is the output of a local command, else notice: they are not the model's words
//	user with tool_result            tool_result
//	user with isReplay               user_message, if no lifecycle told of it; echoes of other things: ignored, they repeat our own acts
//	user "[Request interrupted…"     ignored: it only marks the turn as stopped
//	user, other text                 ignored: the runtime in the user's name (hook feedback, summaries, nudges) or a sub-agent's prompt
//	result                           usage, then result and done, or done{stopped}, or error
//	result before the handshake      the *OpenError of Open (an unknown session)
//	result of a turn that has ended  ignored: the same end twice
//	control_request can_use_tool     permission_request; AskUserQuestion and ExitPlanMode: interrupt; with no turn and no such sub-agent: denied, notice refused
//	control_request elicitation      interrupt "elicitation": an MCP server asks; its props are the request
//	control_request mcp_message      nothing: the client answers as the MCP server "client", whose tools are Options.Tools
//	control_request hook_callback    nothing: the hook of Options.Hooks runs and its reply is sent
//	control_request, other           error reply at once, notice refused (in a transcript hook_callback and mcp_message are ignored: between others)
//	control_cancel_request           permission_resolved or interrupt_resolved, by withdrawn
//	control_response to others       ignored: echoes of our own (in a transcript they resolve the question)
//	conversation_reset               notice; /clear gives the session another id, which the next line tells (a notice too, its raw is {"session_id":…})
//	rate_limit_event                 notice, ignored while the status is allowed
//	auth_status                      notice if it carries an error, else ignored
//	tool_progress                    ignored: elapsed time only
//	tool_use_summary                 ignored: a second telling of the tools
//	prompt_suggestion                ignored: not part of the conversation
//	session_title_changed            ignored: no event for titles
//	control_request_progress         ignored: a sign of life
//	keep_alive                       ignored: a sign of life
//	active_goal                      ignored: a standing order of the user, which the turns carry out
//	anything else                    notice unknown_message with the raw message; it ends nothing
//	not JSON                         notice garbage
//
// System messages by subtype:
//
//	status compacting                compaction start (it begins a turn, when /compact does)
//	status, compact_result failed    compaction end, notice; the assistant's line that says it again is ignored. A turn
//	                                 that was stopped meanwhile is done{stopped}
//	status requesting                ignored: turns tell
//	status with permissionMode       mode_changed
//	compact_boundary                 compaction end
//	api_retry                        notice retry; silence is expected until the next line of the turn
//	task_started, task_progress, task_updated, task_notification, background_tasks_changed   task: see Tasks
//	permission_denied                ignored: its tool_result says denied
//	model_fallback, model_refusal_fallback   notice, model_changed
//	model_refusal_no_fallback        ignored: the stop reason of its message tells
//	worker_shutting_down             ignored: the end of the process tells
//	informational, notification, mirror_error, session_writes_lost   notice
//	local_command_output             delta
//	hook_response                    notice if the hook failed, else ignored: hooks are the configuration's
//	hook_started, hook_progress      ignored: as above
//	thinking_tokens                  ignored: an estimate; usage tells
//	session_state_changed            ignored: turns tell
//	ui_invalidate                    ignored: of the runtime's own screen
//	session_title_changed, commands_changed, plugin_install   ignored: no part of the conversation
//	files_persisted, memory_recall, elicitation_complete       ignored: as above
//	control_request_progress         ignored: a sign of life
//
// # Text
//
// A block's key is the model's message and the block's index.
//
//	message_start                    what an unfinished message left open is retracted: it is said again
//	content_block_start              of reasoning: an empty thinking (activity), no block
//	text_delta, thinking_delta       delta, thinking
//	signature_delta, input_json_delta, citations_delta, compaction_delta   ignored: hidden, or whole in the assistant line
//	assistant line of a streamed block   block_end complete; replaced if it differs; interrupted if aborted
//	assistant line that was not streamed (no partials, fallback, sub-agents)   one delta and block_end, or one thinking and its end
//	content_block_stop               closes reasoning, and a text block where an older version does not mark aborted ones
//	message_delta                    usage of the window; a stop_reason other than a good end: notice
//	ping                             ignored: a sign of life
//	message_stop                     closes; with abandoned_blocks: retracted, or interrupted when the turn was
//	error                            notice
//	redacted_thinking, thinking without text   only activity
//
// An unfinished stream of an older version is retracted when a message of
// another id follows. Reasoning that is said again is closed and then retracted too.
//
// # Tools
//
//	tool_use                         tool_start with the runtime's normalized input; Agent and Task: subagent_spawn; TodoWrite: plan too
//	tool_result of TaskCreate, TaskUpdate, TaskList   plan too, when the list is another one by it
//	server_tool_use, mcp_tool_use    the same
//	tool_result                      text blocks joined by line ends; other blocks (images, references) are left out
//	mcp_tool_result, web_search_tool_result, web_fetch_tool_result, code_execution_tool_result, bash_code_execution_tool_result,
//	text_editor_code_execution_tool_result, tool_search_tool_result, advisor_tool_result   the same, in the assistant's message
//	compaction, container_upload, fallback, mcp_tool_listing   ignored: told by messages, or not what is done
//
// status is denied where the client or a rule said no, interrupted where a stop
// cut it, backgrounded where the runtime launched it, else by is_error.
// exit_code comes from "Exit code N". changes come from structuredPatch (hunks
// without file headers) or the whole content of a created file. A result of a
// tool that never started is a notice late.
//
// # Tasks
//
// A sub-agent's id is the runtime's task id where that is known by its first
// line, else the id of the call that started it; it stays. A slow command in the
// foreground is no task. task_updated only notes an end (of a version
// without lifecycles it is the end, since the rest comes after the turn):
// task_notification, or
// the list of background tasks without it, tells it, once. Lines of a sub-agent
// that has ended are dropped.
//
// # Lists of steps
//
// 2.1.197 offers the model TaskCreate, TaskUpdate, TaskGet and TaskList, 2.1.329
// only where CLAUDE_CODE_ENABLE_TODO_TOOLS is 1; TodoWrite stands in their place
// where CLAUDE_CODE_ENABLE_TASKS is 0 as well. Of tasks that were made before a
// session was resumed the adapter knows when the model looks at the list.
//
// # Hooks
//
// A client may register any event, and some are never called over the control
// protocol: Setup, InstructionsLoaded, SessionEnd, SessionStart but for the one
// after a compaction, and CwdChanged after a command's cd. 2.1.197 calls no
// Notification of an open question, and none when the model is changed. No hook
// hears of what a mode denies. PermissionRequest is called beside the question to the user,
// which is withdrawn when the hook decides. A call that is not answered within
// Hook.Timeout is taken back, and a tool that it was about does not run: its
// result is an error.
//
// # Judge
//
// Options.Judge is asked by a PreToolUse hook of the adapter's own before every
// tool call, of sub-agents and in every mode, also about what is never asked
// (reading, searching, edits in accept-edits, anything in never); and again by
// can_use_tool, whose question is told and then resolved by policy. The user's
// answer to such a question waits for the judge's.
//
//	deny    the hook's denial: the tool_result says denied, the model is told the reason. No permission_request
//	allow   the hook says nothing and the mode decides; what is then asked is allowed. In dont-ask the hook allows
//	ask     the hook says nothing and the mode decides; what is then asked is the user's
//
// AskUserQuestion and ExitPlanMode may be denied; who answers them is the user.
// Settings of the workspace do not switch the hook off (disableAllHooks), and
// rules that allow do not outdo it. --settings {"disableSkillShellExecution":true}
// is given with it: commands that stand in a skill or in a command of the
// workspace run without any hook. So Open fails with --settings or --bare among
// Options.Args, and with CLAUDE_CODE_SIMPLE: these start the runtime without hooks
// though it says hooks_applied. Unenforceable lists what is left.
//
// # Acts
//
//	Send      user line; uuid is the message id if that is a UUID, else derived from session and id
//	Stop      interrupt; before the turn has begun it is sent when it begins. What waits runs next
//	StopAll   interrupt with cancel_queued; 2.1.197 does not know it: cancel_async_message of each, and interrupt
//	StopTask  stop_task
//	Withdraw  cancel_async_message, of a message that waits
//	Answer    allow (with the input: older versions insist on it, or with Answer.Input), deny, cancel is deny with interrupt
//	          scope session and always: the runtime's own suggestions, for the session or as it made them; ErrUnsupported without any
//	          a question takes Answer.Value: the answers by question, a string or a list each, {"answers":…}, or false / "deny" / {"approved":false}
//	SetModel  set_model; the reply names the model in full: model_changed
//	SetMode   set_permission_mode; a status line tells: mode_changed. An error reply to either is ErrRefused
//	Compact   user line "/compact"; its turn has cause command and no message
//	Rewind    rewind_files with the message's uuid; Options.Checkpoints sets CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING,
//	          and each message that is taken is checkpoint created
//	Rename    rename_session
//	Close     open questions are denied, what runs is interrupted, stdin is closed
//	          an MCP server's question takes the form's content, or {"action":…,"content":…}
//	Ping      mcp_status
//
// Options.At is the uuid of an assistant line (--resume-session-at), which no event
// tells: it is for clients that keep the wire. A session that runs cannot be
// reverted, and none can be archived.
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
// # What the client brings
//
// Options.MCP becomes --mcp-config; Options.Tools, Options.Hooks and
// Options.Schema stand in the handshake. A call of a tool that the runtime
// cancels (notifications/cancelled, when its turn is stopped) is answered with an
// error at once; one that it withdraws is not answered. At Close what runs is
// given up.
//
// # Decisions
//
//   - A new session and a fork get --session-id: session_ready names it before
//     the first message. A resumed one keeps its id.
//   - --replay-user-messages is always asked for: only so do versions without
//     lifecycles tell that a message was put into a running turn.
//   - --forward-subagent-text is asked for too: without it nothing that a
//     sub-agent in the foreground says is told. A version that does not know the
//     option ends at once and is started again without it.
//   - Without lifecycles a turn takes the messages that were echoed before it and
//     the next one: of messages that it merges the runtime echoes all but the
//     last before the turn, and the last with all their text in it.
//   - A turn that the runtime begins without a message has cause task.
//   - A turn that was pre-empted (priority now) ends stopped, as an interrupted one.
//   - usage.tokens are the turn's main agent's; input includes what was cached.
//     cost is the session's so far, also across resume.
//   - An error's text is the runtime's. server_error without more is the model's;
//     an API that cannot be reached is network.
//   - A turn that has had its init and gets another one, while the model is not in
//     mid-message, and no tool is open or a message waits, has lost its result: it
//     ends in error protocol, and the next one begins. So does one whose message is
//     completed when the next is started.
package claude
