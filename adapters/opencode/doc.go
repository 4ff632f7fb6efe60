// Package opencode is the adapter for OpenCode.
//
// It runs `opencode serve`, with one server for each session, and talks to it over HTTP and
// server-sent events. Tested version: 1.18.33. New returns the adapter for live sessions,
// Adapter.Transcribe converts transcripts; both use one translator. Requests and replies are
// carried as lines of JSON (package httplines), which is also the form of a transcript; if
// the launched program writes such lines instead of serving HTTP, they are read as they are.
//
// # Opening
//
// The stream of events (GET /event) comes first, then the session: POST /session, GET
// /session/ID for Options.Resume, POST /session/ID/fork with Options.Fork. The mode is a list
// of rules of the session:
//
//	mode           asks for
//	never          nothing; the default
//	accept-edits   bash, external_directory
//	ask            bash, edit, external_directory
//	plan           nothing; messages are for the runtime's agent plan, which changes no files
//
// The rules of a session do not hold for its sub-agents. What the mode asks for, or with
// Options.Judge everything, is therefore in the settings too. A mode that is set later holds
// for the session's own agent alone.
//
// Options.MCP is added to the settings with OPENCODE_CONFIG_CONTENT. Options.Effort is the variant
// of the model in each message, and Options.Instructions its system text, which the runtime adds to
// its own instructions; ReplaceInstructions is ErrUnsupported. Options.Schema is the format of each
// message: the model gives its answer with a tool of the runtime, and the result of the turn is
// that answer. Options.Command is the program
// (else OPENCODE_PATH, else opencode on the child's PATH); Options.Args come last. A model is
// PROVIDER/MODEL, or a model of the provider that was used last.
//
// # Permissions
//
// A permission_request names the call and has its input; the call has been announced before.
// Scope session is the runtime's "always", which it keeps until it exits; scope always and
// Answer.Input are ErrUnsupported. A call that is denied without a message ends the turn. With
// Options.Judge the runtime asks for every call of a tool; what the Judge leaves to the user is
// asked if the mode asks for it, else it runs.
//
// # Calls
//
//	Send      POST /session/ID/prompt_async. The running turn takes a message that comes during
//	          it when the reply of the model has ended (via merge)
//	Stop      POST /session/ID/abort; for a turn that has not begun, when the session is busy
//	SetModel  with the next message, which names its model
//	SetMode   PATCH /session/ID with the rules of the mode
//	Compact   POST /session/ID/summarize; a turn with cause command
//	Rename    PATCH /session/ID
//	Revert    POST /session/ID/revert. What follows the message is gone with the next one
//
// # The end of a turn
//
// session.idle ends a turn only if each reply of the model is complete. A turn that failed or
// was stopped has two of them: the rest of its text, and the results of its tools, come between
// them. A command that was stopped completes without an exit code, and is interrupted.
//
// The runtime asks a model that fails again: six times within some 100 seconds in 1.18.33, and
// without a limit that was seen in 1.15.13. It goes on after a reply that has no end. The adapter
// stops the turn after 10 attempts, and after 5 such replies in a row; it then ends in an error.
//
// # Messages
//
//	session.created          of a sub-agent: task
//	session.status           busy: turn_start and an empty thinking, unless the turn runs already. retry:
//	                         block_end retracted, notice retry
//	session.idle             done or error; of a sub-agent: task
//	session.error            the error of the turn, or that it was stopped
//	session.compacted        compaction end
//	message.updated          of the user: a turn begins with it. Of the model: model_changed. Older than the
//	                         session: ignored, with its parts, as a copy in a fork
//	message.part.updated     text: block_end; of the user, user_message; of a summary, ignored, as is the message
//	                         with which the runtime goes on after one. reasoning: the end of thinking.
//	                         tool: tool_start when it runs, tool_output with what is new in its
//	                         output so far, tool_result. step-finish: usage. compaction:
//	                         compaction start. retry: notice retry, unless session.status has
//	                         reported it. file: a notice, in a reply. step-start, patch, snapshot,
//	                         agent, subtask: ignored
//	message.part.delta       delta or thinking, by its part
//	permission.asked         permission_request
//	question.asked           interrupt (component question)
//	permission.replied, question.replied, question.rejected   how it was resolved, if not by this client
//	todo.updated             plan
//
// Transcripts may be of versions before 1.2, whose events name their session only in the part or
// in the message, and repeat the text so far with each piece; before 1.1 permission.updated is
// permission.asked. Events may be alone, without the lines around them, or within the payload of
// /global/event. Stored messages ({info, parts}) and the export of a session are read too.
//
// The reports of the program's start, settings, files, terminals and screen are ignored; the
// table in mapping.go names them. Anything else is a notice with the raw message.
package opencode
