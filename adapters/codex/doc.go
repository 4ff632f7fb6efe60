// Package codex is the adapter for codex app-server.
//
// It runs `codex app-server` over stdio and speaks its JSON-RPC, with one thread for
// each session and one process for each thread. Tested versions: 0.98, 0.120 and
// 0.171. New returns the adapter for live sessions, Adapter.Transcribe converts
// transcripts of stdout; both use one translator. It also reads rollout files.
//
// # Opening
//
//	initialize → initialized → thread/start | thread/resume {excludeTurns} | thread/fork
//
// session_ready follows the reply: provider_session_id is result.thread.id,
// runtime_version comes from initialize's userAgent. Each request is limited by
// Limits.Request; an error reply or silence is an *adapters.OpenError.
//
// An empty mode is ask; a mode not listed here is an *adapters.OpenError.
//
//	mode          approvalPolicy   sandbox
//	ask           untrusted        workspace-write      asks for everything except known reads
//	accept-edits  on-request       workspace-write      edits in the workspace run; the model asks to leave it
//	plan          on-request       workspace-write      turns start with collaborationMode plan
//	read-only     on-request       read-only            asks for patches and for commands outside the sandbox
//	dont-ask      never            read-only            never asks; changes fail
//	never         never            danger-full-access   never asks
//
// Options.MCP becomes -c mcp_servers.NAME={…}, or -c mcp_servers={"NAME"={…}} if the
// name contains a point; Options.Tools the thread's
// dynamicTools (a resumed thread keeps its tools); Options.Schema the outputSchema
// of each turn; Options.Instructions developerInstructions, or baseInstructions if they
// replace the runtime's own; Options.Effort -c model_reasoning_effort; Options.ExtraDirs the
// writable roots of the sandbox of the modes ask, accept-edits and plan. MCP servers over
// server-sent events are ErrUnsupported.
//
// Options.Command is the program (else CODEX_PATH, else codex on the child's
// PATH); Options.Config becomes -c key=value with TOML values; Options.Args come
// last.
//
// # Calls
//
//	Send    turn/start, also while a turn runs: the runtime merges it (via merge).
//	        It returns when the request is queued for the runtime. A refusal outside
//	        a turn is turn_start and error; within one, notice refused.
//	Steer   turn/steer with expectedTurnId; returns the runtime's reply.
//	Stop    turn/interrupt; for a turn that has not begun, when it begins. If the
//	        runtime refuses because the turn has just ended, that is no error.
//	StopTask  for a sub-agent turn/interrupt of its turn, for a command
//	        thread/backgroundTerminals/terminate, which 0.98 and 0.120 lack: it
//	        returns their refusal. 0.98 and 0.120 interrupt whatever turn of that
//	        thread runs, by any id; 0.98 shows a sub-agent's turn only by its items.
//	Answer  allow, deny, cancel → accept, decline, cancel; or one of the request's
//	        own options. Scope session is acceptForSession, always is the amendment that
//	        the request proposes (ErrUnsupported if there is none). The wire has no field
//	        for Answer.Message, so it is not sent; Answer.Input is ErrUnsupported.
//	        A question takes Answer.Value: a string or a list of strings by the id or the
//	        text of each part; a denied question is returned without answers.
//	SetModel, SetMode   thread/settings/update; older versions receive both with the
//	        next turn/start, and apply them when it is accepted. A refusal is
//	        ErrRefused. A mode not listed above is sent as an approval policy.
//	Close   open questions are cancelled, then stdin is closed.
//	Revert  thread/revert before the turn of the message; before 0.169 thread/rollback by
//	        the number of turns. Only messages sent through this session are known.
//	Compact thread/compact/start; its turn has cause command.
//	Archive thread/archive, then Close. Options.Unarchive: thread/unarchive, then thread/resume.
//	Rename  thread/name/set.
//
// Options.At is a turn's id (from turn_start): thread/fork's lastTurnId. Versions
// before 0.169 ignore it and fork the whole thread.
//
// If a turn ends before it takes a message, notice refused reports the message,
// because the runtime drops it.
//
// # Judge
//
// With Options.Judge the approval policy is untrusted in every mode, also after
// SetMode, because it makes the runtime ask most often; the sandbox is the mode's.
// If a Judge forbids all writing, use ModeReadOnly, so that the sandbox enforces it
// too. A question about a tool is emitted, judged and resolved by policy; the user's
// answer is held back until the judge has decided. If the judge asks, the user
// decides, except that in never the call runs and in dont-ask it is denied (by
// runtime), because in these modes the runtime would not have asked. SetMode to one of
// the runtime's own policies is ErrRefused.
//
// The judge receives a command without the shell around it, a patch with its changes
// as in tool_start, an MCP tool and a tool of the client with its arguments,
// RequestPermissions with the requested permissions, and Network {host, protocol} if a
// running command needs the network. A question that does not name its subject is
// denied. The wire has no field for the reason of a denial: the model is informed that
// a user refused. 0.169 asks about every command, older versions not about those that
// they know to only read. An allowed command runs in the sandbox; but if it fails
// there soon after its start, it runs again without the sandbox, and the user is not asked
// (12 of 12 on 0.98, 8 of 12 on 0.120, 1 of 12 on 0.169, on a busy machine). A command
// that fails later does not. An allowed patch is applied outside the sandbox.
//
// Tools that are never asked about are disabled at Open if the judge denies them
// entirely: WebSearch with an empty query (web_search="disabled"), Read of / (the tool
// that views images: features.view_image=false, since 0.169). Servers of Options.MCP
// get default_tools_approval_mode="prompt", so that 0.169 also asks about read-only
// tools. Unenforceable lists the remaining gaps.
//
// # Notifications
//
//	turn/started                          turn_start (cause user; task if no message was sent, as for a goal that the
//	                                      runtime pursues; command in a transcript without a request for the turn)
//	                                      and an empty thinking
//	turn/completed  completed             result (the last message's text), done
//	                interrupted           done{stopped}
//	                failed                error, code from codexErrorInfo (errors.go)
//	item/started, item/completed          by the item's type, below
//	item/agentMessage/delta               delta
//	item/plan/delta                       delta: a proposed plan is text of the model, separated from its message
//	item/reasoning/textDelta              thinking; also without item/
//	item/reasoning/summaryTextDelta       thinking; also without item/
//	item/commandExecution/outputDelta     tool_output; after the turn, task
//	item/fileChange/outputDelta           tool_output, and the result's output, which the item lacks (0.98, 0.120)
//	item/mcpToolCall/progress             tool_progress. Declared by each version; none of those pinned sends it
//	turn/plan/updated                     plan
//	thread/tokenUsage/updated             usage (the thread's total); of a sub-agent, in its task too
//	thread/compacted                      compaction end, unless an item reported it
//	error           willRetry             block_end retracted for incomplete blocks (reasoning too), notice retry
//	                otherwise             nothing by itself: turn/completed failed follows and becomes the error
//	serverRequest/resolved                permission_resolved withdrawn, if we sent no answer
//	model/rerouted                        model_changed
//	thread/settings/updated               model_changed, mode_changed if they differ: the mode follows from policy,
//	                                      sandbox and collaboration mode
//	warning, guardianWarning, configWarning, windows/worldWritableWarning   notice warning
//	deprecationNotice                     notice warning, level info
//	mcpServer/startupStatus/updated       notice warning if the start failed; else ignored: nothing waits for it
//	thread/started                        opens a transcript; later, for a thread without a parent: another client on
//	                                      this connection opened it and handles it, so all its messages are ignored,
//	                                      requests too
//
// Ignored because they repeat other messages:
//
//	thread/status/changed                 turns and requests report it, with their ids
//	turn/diff/updated                     the file changes report it, each once
//	item/fileChange/patchUpdated          precedes its item, with other paths; the item is complete
//	item/reasoning/summaryPartAdded       the deltas contain the part's index
//	codex/event/*                         0.98 repeats each event once or twice in this old form
//	rawResponseItem/completed, rawResponse/completed   repeat the model's items
//	sessionConfigured, authStatusChange, loginChatGptComplete   old forms
//
// Ignored because they do not concern the agent's work in this session:
//
//	thread/readState/changed, thread/archived, thread/unarchived, thread/deleted, thread/closed,
//	thread/reverted, thread/name/updated, thread/section/changed, thread/attachment/updated,
//	thread/goal/updated, thread/goal/cleared, thread/prediction/updated, thread/queue/changed,
//	thread/project/updated, thread/environment/*, project/changed
//	                                      the client's own list of threads and its settings
//	account/*, app/list/updated, skills/changed, remoteControl/status/changed, fs/changed,
//	fuzzyFileSearch/*, externalAgentConfig/import/*, mcpServer/oauthLogin/completed,
//	mcpServer/event/stream/notification, windowsSandbox/setupCompleted, thread/search/partial
//	                                      follow requests that this adapter never sends
//	command/exec/outputDelta, process/*   commands of the client, not of the agent
//	thread/realtime/*                     voice, which has no event
//	hook/started, hook/completed          the user's own hooks
//	item/autoApprovalReview/*, autoApprovalReview/strictReviewRequired   the runtime decides; the item shows the decision
//	item/commandExecution/terminalInteraction   input of the model to a command has no item and no event
//	model/verification, model/safetyBuffering/updated, modelProvider/authRecovery*, turn/moderationMetadata
//	                                      the provider's bookkeeping
//
// Anything else is notice unknown_message with the raw line; the turn continues.
//
// # Items
//
//	userMessage            user_message (via turn, merge or steer); of a sub-agent ignored, because its
//	                       parent's tool call contains it, as is a picture that the model looked at (0.98).
//	                       Text that streams at that moment was cut: interrupted
//	agentMessage           without deltas: one delta with the whole text. Then block_end: complete if the deltas
//	                       add up to the text, else replaced (with the text)
//	plan                   like agentMessage; text of its message after the plan is a separate block
//	reasoning              an empty thinking at the start; each part is a block. Parts without deltas are
//	                       emitted at the end; raw content that only repeats a summary is not
//	commandExecution       Bash; command is without its shell, input.command is unchanged; commandActions
//	                       decide is_file_read, file_path, pattern, search_path. Output is aggregatedOutput
//	fileChange             Write if it only adds files, else Edit; changes in the result
//	mcpToolCall            mcp__server__tool; the result's texts joined by newlines, images omitted
//	dynamicToolCall        its name, after namespace__ if it has one; if it ends before the client has
//	                       replied, interrupted
//	functionCall, functionCallOutput   by name (seen in older documents only)
//	webSearch              WebSearch or WebFetch, when it has ended: before, neither query nor page is stated
//	imageView              Read
//	imageGeneration, sleep ImageGeneration, Sleep
//	collabAgentToolCall    spawnAgent is Task with subagent_spawn; others by their own name
//	subAgentActivity       started is Task with subagent_spawn; completed ends the task; others by their kind
//	contextCompaction      compaction start, end
//	exitedReviewMode       ignored, because a message with the same text follows it, however the review ends
//	enteredReviewMode      ignored, because the turn continues like any other; the reviewer's text is not
//	                       streamed, and its messages start but do not end: without text they are no block
//	hookPrompt             ignored, because it is text from a hook to the model
//
// Any other type is notice unknown_message.
//
// # Server requests
//
//	item/commandExecution/requestApproval, execCommandApproval    permission_request Bash
//	item/fileChange/requestApproval, applyPatchApproval           permission_request Edit or Write
//	item/permissions/requestApproval      permission_request RequestPermissions; allow grants the request, for the turn
//	                                      or the session. In a transcript withdrawn: no item shows the grant
//	mcpServer/elicitation/request         of an MCP tool call: permission_request mcp__server__tool;
//	                                      else interrupt "elicitation"
//	item/tool/requestUserInput            interrupt "question"
//	item/tool/call                        nothing: the client's tool runs and its reply is sent. If the tool has
//	                                      no item (0.98), tool_start and tool_result. An unknown tool, or a call
//	                                      outside a running turn: like any other request
//	any other (attestation/generate …)   JSON-RPC error at once, notice unknown_message
//
// request_id is "<turn>.<id of the request>", because the runtime counts from 0 in
// each process. A request of a turn that does not run is declined at once, with notice
// late. A question that is still open is declined when its turn ends, and cancelled
// when the session ends. A transcript does not contain the answers; the outcome of the
// item shows them.
//
// # Ends
//
// Neither the end of its turn nor turn/interrupt kills a command: it continues as a
// background terminal. (0.98 kills it. On turn/interrupt it sends nothing, so a
// command without a source is interrupted then; at the end of a turn it reports the
// kill, and the task fails.) So an open command is backgrounded in both cases, and a
// task (task_id is the item's id) reports the rest. A command that never ran because
// it waits for a permission is interrupted, and so is one of the user
// (thread/shellCommand), which turn/interrupt kills. Other tools are interrupted.
// A running task's text is new output; at its end the text is the whole output.
//
// Lines of a turn that has ended are dropped, except those of background commands,
// which are tasks then (stopped if the runtime ended the command: exitCode -1). Threads
// other than the session's and those of thread/started are sub-agents: their events
// have subagent_id, the thread's id; their turns are tasks. Of ended turns, tools and
// idle sub-agents only the newest are remembered, so that memory is bounded for
// transcripts of any length.
//
// # Differences between versions and documents
//
// Names in the design document that the wire does not confirm are accepted if that
// costs nothing: reasoning/* without item/, functionCall, serverName and toolName.
// Without clientId (0.98, 0.120) messages are matched in the order of sending.
// If 0.98 compacts without turn/started, the first item starts the turn.
// 0.98 counts turns from "0" in each process and thread, and announces one for
// each message: a turn that is announced while another one runs starts with its first
// item. 0.98 asks before it sends the item: the question starts the tool call.
// 0.98 does not exit while a question of an ended turn has no answer, and a late
// cancel stops its next turn: so open questions are declined at the end of a turn.
//
//	                              0.98          0.120            0.171
//	codex/event/* in addition     yes           no               no
//	turn ids                      0, 1 …        UUID             UUID, rootTurnId
//	clientId of messages          no            no               yes
//	thread/status/changed, serverRequest/resolved   no   yes     yes
//	message during text           after the reply, same turn (both)   cuts the reply off
//	command at turn/interrupt     killed        continues        continues
//	command at the turn's end     killed        continues        continues
//	item/fileChange/outputDelta, thread/compacted   yes   yes    no
package codex
