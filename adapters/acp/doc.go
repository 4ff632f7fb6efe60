// Package acp is the adapter for agents of the Agent Client Protocol, version 1.
//
// It starts an agent and speaks the protocol over stdio, with one process for each session.
// Tested agents: codex-acp 2.6.0, claude-agent-acp 0.49.0 and 0.101.0, opencode 1.18.33, GitHub Copilot CLI 1.0.102 and
// Qwen Code 0.24.4. New returns the adapter for
// live sessions, Adapter.Transcribe converts transcripts of stdout; both use one translator.
//
// It reads lines with the loop that the other adapters use, and not with a library of the
// protocol: those read ahead without bound, close the connection at a long line, and drop a
// line or a kind of update that they do not know.
//
// # Opening
//
// initialize, then session/new, then a request for each setting that was chosen; then
// session_ready. Options.Resume is session/load, or session/resume if the agent loads no
// sessions. What an agent replays while it loads a session is history and becomes no event.
// Options.Fork is session/fork, if the agent has it. Options.Model and Options.Config are
// session/set_config_option, by the ids of the agent. Options.MCP are servers of stdio, or of
// HTTP if the agent supports it.
//
// Options.Mode is session/set_mode, unless the agent is in that mode: the first of these that
// the agent offers, else the mode by that name. Without a mode the agent's own is in force.
//
//	ask            default, ask, read-only, agent of the protocol's own ids
//	accept-edits   acceptEdits, accept-edits, auto-edit, workspace-write
//	plan           plan, also by the protocol's own id
//	read-only      read-only
//	dont-ask       dontAsk, dont-ask
//	never          bypassPermissions, agent-full-access, full-access, yolo
//
// The modes of opencode are its agents, and what it asks about is in its settings. If a mode is
// chosen or there is a Judge, the adapter starts the agent with OPENCODE_PERMISSION, which only
// opencode reads, so that it asks about commands and edits (ask), commands (accept-edits), or nothing (never).
// The rest is as its settings say. SetMode then changes between that mode and plan. Open returns ErrUnsupported if the
// environment holds other permissions.
//
// An agent that plans by an option of the category collaboration_mode, as codex-acp does, keeps
// its mode while that option is plan. Copilot asks about nothing (never) by an option of the
// category permissions.
//
// Options.Effort is the agent's option of the category thought_level; Open returns ErrUnsupported if
// it has none, and for Options.ExtraDirs if it has no additionalDirectories.
// Options.Command is the agent (else ACP_PATH, else acp, codex-acp, claude-agent-acp,
// `opencode acp`, `copilot --acp` or `qwen --acp` on the child's PATH); Options.Args follow. The adapter offers forms, and files and terminals
// if the fields Files and Terminals of Adapter are set. Without them agents read files, write
// them and run commands by themselves.
//
// # Files and terminals
//
// fs/read_text_file, fs/write_text_file and the cwd of terminal/create must lead to
// Options.Dir or Options.ExtraDirs when all links are resolved. A file that is read is a text
// in UTF-8 of at most 16 MiB. What a command may do is not limited to the folders.
//
// The Judge decides about each read (Read), write (Write) and command (Bash). If it returns
// ask, the request is served, because an agent asks the user before it sends one. Reads,
// writes and new commands are refused if no turn runs, or after Stop.
//
// A terminal keeps the last outputByteLimit bytes of stdout and stderr, 1 MiB if the agent
// names no limit, cut at a character. terminal/kill, terminal/release and the end of the
// session kill the command and its process group. At most 32 terminals may be open. A tool
// call whose content is a terminal has its output and its exit code in tool_result.
//
// These requests are no events: the agent reports the tool call that they are for. Of the
// recorded agents only opencode sends one. It writes each edit that the user allowed with
// fs/write_text_file, whether or not that is offered, and then by itself; if it is not offered,
// a notice reports the refusal.
//
// # Permissions
//
// A permission_request shows the agent's options by their ids. Allow chooses the option of
// kind allow_once; with a scope, one of kind allow_always, whose id names the session or not.
// Deny chooses the first of kind reject_once, or reject_always. DecisionCancel is
// session/cancel and the outcome cancelled. Answer.Input is ErrUnsupported, and Answer.Message
// has no field. Stop answers all open questions with cancelled, as the protocol demands. A
// form (elicitation/create) is an interrupt (component elicitation): members of Answer.Value are
// named as its fields, or by the questions that the fields ask; a value with an action is the
// whole answer. An interrupt is also a question about
// a tool of kind switch_mode, whose component is the tool: it approves a plan.
//
// A Judge decides about the calls that the agent asks about. If the option for its verdict is
// missing, the call is denied.
//
// # Turns
//
// The protocol has no line for the start of a turn: it begins when its message is sent. It has
// no queue either: a message that comes during a turn waits in the adapter. The reply to
// session/prompt ends the turn. Stop is session/cancel; the adapter has no Steer.
//
// # Messages
//
//	agent_message_chunk          delta. A block ends when another message, reasoning or a tool call begins
//	agent_thought_chunk          thinking
//	tool_call, tool_call_update  tool_start when the input is known, tool_output, tool_result at a final status.
//	                             Each member replaces the one before. Content grows, so only what is new is emitted.
//	                             An update of a call that was not announced is ignored. What claude-agent-acp
//	                             states about the time of a call, and codex-acp about what a server does,
//	                             is tool_progress
//	plan                         plan
//	current_mode_update          mode_changed
//	config_option_update         mode_changed, model_changed
//	usage_update                 the context and the cost of usage
//	session/request_permission   permission_request
//	elicitation/create           interrupt
//	reply to session/prompt      usage, and done: stopped if cancelled; reason is any other stop reason but
//	                             end_turn. An error: error
//	session_info_update          of codex-acp, if its runtime will repeat a request: block_end retracted, notice
//	                             retry. Any other: nothing
//	user_message_chunk, available_commands_update, _auth/status_update   ignored
//
// Content of a message that comes when no turn runs becomes a notice, late. Any other method is
// refused if it is a request, and a notice with the raw message.
//
// A piece of a message that is not of the model is a notice: claude-agent-acp and codex-acp
// repeat so the words of an error, under a message id that is not of the model's API, or none.
// What codex-acp reports as a tool call mcp_startup is a notice too, and a compaction, which it
// reports as a call without a name and claude-agent-acp by words of its own, is compaction. If a turn of codex-acp fails, the agent states
// a systemError of its thread, sends the words of the error as a message, and ends the turn as
// any other: that is an error.
//
// Of _meta it reads what agents add to tool calls: the name of the tool (claudeCode), the
// output and the exit code of a terminal (terminal_output_delta, terminal_exit).
//
// opencode names a tool in the title of the first update of its call, and joins the names of an
// MCP server and of its tool there. A call of todowrite is a plan too. The exit code of a command
// is in the raw output, and its status is completed whatever the code is, also if it was stopped.
// The tokens of a reply to session/prompt are those of the last request to the model, and what
// usage_update states of the context lacks the model's reply. If the model's API fails in the
// middle of a reply, opencode asks again and sends the text again; no line says so, and the text
// of both is emitted.
//
// Copilot and Qwen Code name no messages. A message begins with a turn, after the result of a
// call, and when Copilot repeats a request or sends the next one, of which it estimates the size
// before (usage_update). Its id is a number in the session, in which the messages of a history
// that the agent replays count too.
//
// Copilot reports some things in pieces of text that look like those of the model. "Info: " with an
// end in "etrying..." means that it repeats the request to the model: the block is retracted, and a
// notice (retry) holds the text. A path that it has written, or that the user has denied a call, is
// ignored. "Error: " says that the turn has failed, which the agent ends as any other: that is an
// error, unless the turn goes on; then the words are text of the model. The tokens in its reply
// to session/prompt are those of the session in this process. What it shows of a command before
// the result is the output of a command that has ended, and is ignored. It opens a session
// without the client's MCP servers of stdio: Open returns ErrUnsupported for those.
//
// Qwen Code states the tokens of each request in _meta of an empty piece. After each call it
// asks by craft/drainMidTurnQueue for messages into the turn, which gets an error. If the model's
// API fails in the middle of a reply, it asks again and sends the text again; no line says so.
package acp
