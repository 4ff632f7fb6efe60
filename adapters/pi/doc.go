// Package pi is the adapter for Pi (pi-coding-agent).
//
// It runs `pi --mode rpc` over stdio, with one process for each session. Tested versions:
// 0.73.1 of @mariozechner/pi-coding-agent, and 0.87.1 and 1.6.0 of @earendil-works/pi-coding-agent,
// which speak two dialects; since 1.0 a message is named when it ends. New returns the
// adapter for live sessions, Adapter.Transcribe converts transcripts of stdout, also of
// `pi --mode json`; both use one translator.
//
// # Opening
//
// There is no handshake: session_ready follows the reply to get_state, which names the
// session and its model. Options.Resume is --session, with Options.Fork --fork. The
// runtime states neither its version nor its folder.
//
//	mode           asks about
//	never          nothing; the default, because the runtime itself never asks
//	accept-edits   bash
//	ask            bash, edit, write
//
// Options.Instructions are --append-system-prompt, or --system-prompt if they replace the
// runtime's own; Options.Effort is --thinking. Other modes are ErrUnsupported.
// Options.Command is the program (else PI_PATH, else pi on the child's PATH); Options.Args come last.
//
// # Permissions
//
// Pi asks for no permission, but an extension can. The adapter writes one into a file and
// loads it with -e. For each call it opens a confirm dialog whose message is the JSON
// object {toolCallId, toolName, input}; such a dialog of any extension is a
// permission_request, every other dialog an interrupt (component question). The dialog
// opens after tool_start. A denied call has the result "The user said no.". The
// runtime asks about one call at a time. Answer.Input and scopes are ErrUnsupported, and
// Answer.Message has no field.
//
// With Options.Judge the extension asks about every tool of the runtime in each mode.
// What the Judge leaves to the user is asked if the mode asks about the tool, else it
// runs.
//
// # Calls
//
//	Send      prompt; during a turn with streamingBehavior followUp: the message waits until
//	          the agent would stop, and the turn goes on with it (via merge)
//	Steer     steer: the message comes after the reply of the model and its tools
//	Stop      abort; for a turn that has not begun, when it begins
//	SetModel  set_model: PROVIDER/MODEL, or a model of the provider in use
//	Compact   compact; a turn with cause command
//	Rename    set_session_name
//	Revert    get_fork_messages and fork: the runtime goes on in a copy of the session, with
//	          another id, that ends before the message
//
// Messages that wait when a turn is stopped stay in the runtime's queue until the next
// turn. The older dialect drops the id of its reply to an unknown command.
//
// # Files
//
// Pi does not state whether a written file was there before. A write is a change of the kind
// update if the session has read, edited or written the file, with a diff that has the new
// lines only; else it is of the kind add, with the content.
//
// # Messages
//
//	session                  session_ready, of a transcript of the mode json
//	response                 the result of a call; get_state session_ready, set_model model_changed
//	agent_start              turn_start and an empty thinking, unless its turn runs already
//	agent_end                usage of the turn. Older dialect: result and done, or error. If the error is one after
//	                         which the runtime tries again, auto_retry_start or auto_retry_end follows
//	                         at once; if the runtime answers and neither has come half a second
//	                         later, the turn ends
//	agent_settled            newer dialect: the same. It comes after all attempts
//	message_start            user: user_message; its text finds the message that was sent
//	message_update           text_delta: delta. thinking_delta, thinking_end: thinking. toolcall_start,
//	                         toolcall_delta: tool_input, on request. text_start, text_end,
//	                         thinking_start, toolcall_end: ignored. Snapshots of the message are
//	                         read for ids only: in the older dialect they are ahead of the deltas
//	message_end              assistant: block_end
//	tool_execution_start     tool_start
//	tool_execution_update    tool_output: what is new in the output so far
//	tool_execution_end       tool_result; interrupted if the call was aborted
//	queue_update             by which way a message came; queue lists those of the client
//	auto_retry_start         block_end retracted, notice retry
//	auto_retry_end           after the last attempt: error
//	compaction_start         compaction start; one that was asked for begins a turn with cause command
//	compaction_end           compaction end, and the end of that turn
//	extension_ui_request     confirm: permission_request or interrupt. select, input, editor:
//	                         interrupt. notify: notice. setStatus, setWidget, setTitle,
//	                         set_editor_text: ignored
//	extension_error          notice
//	turn_start, turn_end     ignored: a round of the agent. After an aborted tool there is one
//	                         more without content
//	entry_appended, thinking_level_changed, session_info_changed, model_changed,
//	bash_execution_update, summarization_retry_scheduled, summarization_retry_attempt_start,
//	summarization_retry_finished, session_compact_failed   ignored
//
// Anything else is a notice with the raw message.
package pi
