// Package codex answers one question: how does codex app-server become
// normalized events?
//
// It runs `codex app-server` over stdio and speaks its JSON-RPC, one thread a
// session, one process a thread. Known are 0.98, 0.120 and 0.169; what a
// version does not send costs nothing. The same translation serves live
// sessions (New) and transcripts of stdout (NewNormalizer).
//
// # Opening
//
//	initialize → initialized → thread/start | thread/resume {excludeTurns} | thread/fork
//
// session_ready follows the reply: provider_session_id is result.thread.id,
// runtime_version stands in initialize's userAgent. Each request has
// Limits.Request; an error reply or silence is an *adapters.OpenError.
//
// A mode that is empty is ask; any other than these is an *adapters.OpenError.
//
//	mode          approvalPolicy   sandbox
//	ask           untrusted        workspace-write      asks for all but known reads
//	accept-edits  on-request       workspace-write      edits in the workspace run; the model asks to leave it
//	plan          on-request       workspace-write      turns begin with collaborationMode plan
//	read-only     on-request       read-only            patches and what the model wants to run outside are asked
//	dont-ask      never            read-only            nothing is asked: what would change something fails
//	never         never            danger-full-access   nothing is asked
//
// Options.MCP becomes -c mcp_servers.NAME={…}; Options.Tools the thread's
// dynamicTools (a resumed thread keeps those that it began with); Options.Schema
// each turn's outputSchema; Options.Hooks is ErrUnsupported.
//
// Options.Command is the program (else CODEX_PATH, else codex on the child's
// PATH); Options.Config becomes -c key=value, its values TOML; Options.Args come
// last.
//
// # Acts
//
//	Send    turn/start, also while a turn runs: the runtime merges it (via merge).
//	        It returns when the request is queued for the runtime. A refusal before
//	        a turn is turn_start and error; within one, notice refused.
//	Steer   turn/steer with expectedTurnId; returns the runtime's reply.
//	Stop    turn/interrupt; for a turn that has not begun, when it begins. That the
//	        runtime refuses because the turn has just ended is no error.
//	StopTask  of a sub-agent turn/interrupt of its turn, of a command
//	        thread/backgroundTerminals/terminate, which 0.98 and 0.120 do not have: it
//	        returns their refusal. 0.98 and 0.120 interrupt whatever turn of that
//	        thread runs, by any id; 0.98 tells a sub-agent's turn by its items alone.
//	Answer  allow, deny, cancel → accept, decline, cancel; or one of the request's
//	        own options. Scope session is acceptForSession, always the amendment that
//	        the request proposes (ErrUnsupported where there is none). Answer.Message has
//	        no place in this wire and is not sent; Answer.Input is ErrUnsupported.
//	        A question takes Answer.Value: a string or a list of strings by the id or the
//	        text of each part; what is denied goes back without answers.
//	SetModel, SetMode   thread/settings/update; versions before it take both with the
//	        next turn/start, and are in force when that is taken. A refusal is
//	        ErrRefused. A mode that is none of the above is taken for a policy.
//	Close   open questions are cancelled, then stdin is closed.
//	Revert  thread/revert before the turn of the message; before 0.169 thread/rollback by
//	        the number of turns. Only messages that were sent through this session are known.
//	Compact thread/compact/start; its turn has cause command.
//	Archive thread/archive, then Close. Options.Unarchive: thread/unarchive, then thread/resume.
//	Rename  thread/name/set.
//
// Options.At is a turn's id (turn_start tells it): thread/fork's lastTurnId, which
// versions before 0.169 do not read: they fork the whole. Options.Checkpoints
// changes nothing: the runtime keeps no copies of files.
//
// A message that the running turn never took because it ended is told in notice
// refused: the runtime drops it.
//
// # Judge
//
// With Options.Judge the approval policy is untrusted in every mode, also after
// SetMode, because it makes the runtime ask about most; the sandbox is that of the
// mode. Where a Judge lets nothing be written, ModeReadOnly has the sandbox hold
// it too. A question about a tool is told, judged and resolved by policy; the
// user's answer waits for the judge's. What the judge leaves is the user's, but in
// never it runs and in dont-ask it is denied (by runtime): there the runtime would
// not have asked. A SetMode to a policy of the runtime's own is ErrRefused.
//
// The judge sees a command without the shell around it, a patch with its changes
// as in tool_start, an MCP tool and a tool of the client with its arguments,
// RequestPermissions with what is wanted, Network {host, protocol} where a command
// that runs wants out. A question that does not say what it is about is denied.
// The reason of a denial has no place in this wire: the model is told that a user
// refused. 0.169 asks about every command, older ones not about those that they
// know to only read. An allowed command runs in the sandbox; but one that fails
// there soon after its start runs once more without it, and nobody is asked again
// (12 of 12 on 0.98, 8 of 12 on 0.120, 1 of 12 on 0.169, on a busy machine). One
// that fails later does not. An allowed patch is applied outside of it.
//
// What is never asked about is taken away at Open where the judge denies it as a
// whole: WebSearch with an empty query (web_search="disabled"), Read of / (the tool
// that looks at pictures: features.view_image=false, since 0.169). Servers of
// Options.MCP get default_tools_approval_mode="prompt", so that 0.169 asks about
// read-only tools too. Unenforceable lists what is left.
//
// # Notifications
//
//	turn/started                          turn_start (cause user; task when nothing was sent, as for a goal that the
//	                                      runtime works on; command in a transcript that shows that no turn was
//	                                      asked for) and an empty thinking
//	turn/completed  completed             result (the last message's text), done
//	                interrupted           done{stopped}
//	                failed                error, code from codexErrorInfo (errors.go)
//	item/started, item/completed          by the item's type, below
//	item/agentMessage/delta               delta
//	item/plan/delta                       delta: a proposed plan is text of the model, taken out of its message
//	item/reasoning/textDelta              thinking; also without item/
//	item/reasoning/summaryTextDelta       thinking; also without item/
//	item/commandExecution/outputDelta     tool_output; after the turn, task
//	item/fileChange/outputDelta           tool_output, and the result's output, which the item lacks (0.98, 0.120)
//	turn/plan/updated                     plan
//	thread/tokenUsage/updated             usage (the thread's total); of a sub-agent, in its task too
//	thread/compacted                      compaction end, unless an item told it
//	error           willRetry             block_end retracted for what was half said (reasoning too), notice retry
//	                otherwise             nothing by itself: turn/completed failed follows and is the error
//	serverRequest/resolved                permission_resolved withdrawn, when we gave no answer
//	model/rerouted                        model_changed
//	thread/settings/updated               model_changed, mode_changed when they differ: the mode is told from policy,
//	                                      sandbox and collaboration mode
//	warning, guardianWarning, configWarning, windows/worldWritableWarning   notice warning
//	deprecationNotice                     notice warning, level info
//	mcpServer/startupStatus/updated       notice warning when failed; ignored otherwise: nobody waits for it
//	thread/started                        opens a transcript; later, of a thread without a parent: that thread is
//	                                      somebody else's on this connection, and all of it is ignored, its
//	                                      requests too, because whoever opened it handles it
//
// Ignored because they repeat what other messages tell:
//
//	thread/status/changed                 turns and requests tell it, with their ids
//	turn/diff/updated                     the file changes tell it, each once
//	item/fileChange/patchUpdated          precedes its item, with other paths; the item has it all
//	item/reasoning/summaryPartAdded       the part's index stands in its deltas
//	codex/event/*                         0.98 sends each event a second and third time in this old form
//	rawResponseItem/completed, rawResponse/completed   the model's items again
//	sessionConfigured, authStatusChange, loginChatGptComplete   old forms
//
// Ignored because they are not about what the agent says or does in this
// session:
//
//	thread/readState/changed, thread/archived, thread/unarchived, thread/deleted, thread/closed,
//	thread/reverted, thread/name/updated, thread/section/changed, thread/attachment/updated,
//	thread/goal/updated, thread/goal/cleared, thread/prediction/updated, thread/queue/changed,
//	thread/project/updated, thread/environment/*, project/changed
//	                                      the client's own list of threads and its settings
//	account/*, app/list/updated, skills/changed, remoteControl/status/changed, fs/changed,
//	fuzzyFileSearch/*, externalAgentConfig/import/*, mcpServer/oauthLogin/completed,
//	mcpServer/event/stream/notification, windowsSandbox/setupCompleted
//	                                      replies to requests that this adapter never makes
//	command/exec/outputDelta, process/*   commands of the client, not of the agent
//	thread/realtime/*                     voice, which has no event
//	hook/started, hook/completed          the user's own hooks
//	item/autoApprovalReview/*, autoApprovalReview/strictReviewRequired   the runtime decides; the item tells how
//	item/commandExecution/terminalInteraction   what the model typed into a command has no item and no event
//	item/mcpToolCall/progress             words of a server about its work, not output
//	model/verification, model/safetyBuffering/updated, modelProvider/authRecovery*, turn/moderationMetadata
//	                                      the provider's bookkeeping
//
// Everything else is notice unknown_message with the raw line, and ends nothing.
//
// # Items
//
//	userMessage            user_message (via turn, merge or steer); in a sub-agent ignored because its
//	                       parent's tool call holds it. Text that streams at that moment was cut: interrupted
//	agentMessage           no deltas: one delta with the whole text. Then block_end: complete when the text is
//	                       what came in pieces, replaced (with the text) when it is not
//	plan                   as agentMessage; what its message says after it is a block of its own
//	reasoning              an empty thinking when it begins; each part is a block. Parts without deltas are
//	                       delivered at the end; raw content that only repeats a summary is not
//	commandExecution       Bash; command is taken out of its shell, input.command is as it came; commandActions
//	                       decide is_file_read, file_path, pattern, search_path. Output is aggregatedOutput
//	fileChange             Write when it only adds files, else Edit; changes in the result
//	mcpToolCall            mcp__server__tool; the result's texts joined by line ends, images left out
//	dynamicToolCall        its name, behind namespace__ if it has one; one that ends before the client has
//	                       answered is interrupted
//	functionCall, functionCallOutput   by name (seen in older documents only)
//	webSearch              WebSearch; the query is known at the end only and is the output then
//	imageView              Read
//	imageGeneration, sleep ImageGeneration, Sleep
//	collabAgentToolCall    spawnAgent is Task with subagent_spawn; others by their own name
//	subAgentActivity       started is Task with subagent_spawn; completed ends the task; others by their kind
//	contextCompaction      compaction start, end
//	exitedReviewMode       ignored because a message with the same text follows it, however the review ends
//	enteredReviewMode      ignored because the turn goes on as any other; what the reviewer says is not
//	                       streamed, and its messages begin but do not end: they have no text and are no block
//	hookPrompt             ignored because it is a hook's word to the model
//
// Any other type is notice unknown_message.
//
// # Server requests
//
//	item/commandExecution/requestApproval, execCommandApproval    permission_request Bash
//	item/fileChange/requestApproval, applyPatchApproval           permission_request Edit or Write
//	item/permissions/requestApproval      permission_request RequestPermissions; allow grants what was asked, for the turn
//	                                      or the session. In a transcript withdrawn: no item tells what was granted
//	mcpServer/elicitation/request         of an MCP tool call: permission_request mcp__server__tool;
//	                                      else interrupt "elicitation"
//	item/tool/requestUserInput            interrupt "question"
//	item/tool/call                        nothing: the client's tool runs and its answer is sent. Where the tool has
//	                                      no item (0.98), tool_start and tool_result. A tool that the client does
//	                                      not have, or of no running turn: as any other
//	any other (attestation/generate …)   JSON-RPC error at once, notice unknown_message
//
// request_id is "<turn>.<id of the request>": the runtime counts from 0 in each
// process. A request for a turn that does not run is declined at once and told
// in notice late. A question still open when its turn ends is declined, when the
// session ends cancelled. A transcript does not hold the answers: what became of the item tells
// them.
//
// # Ends
//
// A command is not killed by the end of its turn, nor by turn/interrupt: it
// stays as a background terminal. (0.98 kills it: on turn/interrupt without a
// word, so that a command without a source is interrupted then; at the end of a
// turn it says so, and the task fails.) So an open command is backgrounded in both,
// with a task (task_id is the item's id) that carries its life on; one that
// never ran because it waits for a permission is interrupted, and so is one of the
// user's own (thread/shellCommand), which the interruption kills. Other tools are
// interrupted. A task's text while it runs is a piece of output, at its end the
// whole.
//
// Lines for a turn that is over are dropped, but for background commands, which
// are tasks then (stopped when the runtime ended it: exitCode -1). Threads other
// than the session's and than those of thread/started are sub-agents: their events
// carry subagent_id, the thread's id; their turns are tasks. Of what is over
// (turns, tools, sub-agents at rest) only the newest are remembered, so that a
// transcript of any length takes constant memory.
//
// # Drift
//
// The seed's names that the wire does not bear out are accepted where they cost
// nothing: reasoning/* without item/, functionCall, serverName and toolName.
// Without clientId (0.98, 0.120) messages are taken in the order of sending.
// Where 0.98 compacts without turn/started, the first item begins the turn.
// 0.98 counts turns from "0" in each process and thread, and announces one for
// each message: a turn that is announced while one runs begins with its first
// item. It asks before it shows the item: the question begins the tool call.
// It does not end while a question of a turn that is over has no answer, and a
// late cancel stops the next turn: what is open at the end of a turn is declined.
//
//	                              0.98          0.120            0.169
//	codex/event/* beside all      yes           no               no
//	turn ids                      0, 1 …        UUID             UUID, rootTurnId
//	clientId of messages          no            no               yes
//	thread/status/changed, serverRequest/resolved   no   yes     yes
//	message amid text             after the reply, same turn (both)   cuts the reply off
//	command at turn/interrupt     killed        runs on          runs on
//	command at the turn's end     killed        runs on          runs on
//	item/fileChange/outputDelta, thread/compacted   yes   yes    no
package codex
