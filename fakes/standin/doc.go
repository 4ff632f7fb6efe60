// Package runtime answers one question: what does a client see of a runtime that
// does what it did when it was recorded?
//
// It plays a case (package fixtures) as the runtime, in this process over pipes
// (Launcher) or as a program on stdio (Serve, Main). It says nothing that the
// recording does not hold, and shares no wire code with the adapters that talk
// to it.
//
// `codex exec --json` is a runtime of its own, codexexec: its message is all of
// stdin or an argument, each process is a turn, and a stop is a signal.
//
// # Barriers
//
// Each act of the recorded client is a barrier: output halts there until the
// subject does the equal act. An act that comes early is held until its barrier
// is reached, so that a stop always lands on the recorded partial text. Equal
// means: a message with the same text, or a transcript that ends with it behind
// who says it ("User: …"), a reply to the same request with an
// equivalent decision, a thread or session id that this play gave. An act that
// the case does not hold gets an error reply where its wire has one and is
// listed by Unrecorded; an act that contradicts the recording (allow where it
// says deny) or that no client may do (a second reply to one request) is listed
// by Violations, and the play goes on as recorded, so that no client hangs.
//
// What a client chooses for a session (which one it opens, folder, model, what
// is asked, sandbox, hooks, schema) changes nothing that is played. It is kept
// beside what the recording's client had chosen, for others to judge (Settings);
// so are the requests that the runtime made of its client (Asked).
//
// The handshake is matched by method. What is optional on the wire does not
// halt: `initialized`, Claude's initialize as soon as a later act has come,
// reads and configuration. Reads are answered at once, by method, from the case
// or from the lifecycle, in any order, without moving the play.
//
// Nor does a stop where no turn ran, which a client need not write, and what the
// recording's client did on another thread of the process: that thread's lines
// come all the same, as they do on a connection that is shared.
//
// A barrier of codex's turn/start stands right before the first line that it
// caused, its reply: a client may wait for lines (thread/started, say) that the
// recording's client did not wait for.
//
// When stdin is closed before the recording's client closed it, codex ends at
// once and claude plays on up to the next barrier, then ends; both with the
// recorded exit code. A process that a fault lets die or hang takes and says
// nothing more, and what its client does then is no act.
//
// # What is subtracted
//
// A recording has every optional output on. A play leaves out what this client
// did not ask for:
//
//	claude  stream_event, status requesting           without --include-partial-messages
//	        lines with isReplay, echoed responses     without --replay-user-messages
//	        session_state_changed                     without CLAUDE_CODE_SDK_READS_SESSION_STATE (or the older
//	                                                  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS, for which sdk_host_only goes)
//	        text of a sub-agent in the foreground     without --forward-subagent-text
//	        command_lifecycle, user_message_uuid(s),  of a message sent without uuid
//	        owed_rows, first_request_*, request_sent_wall_ms
//	        calls of hooks                            that its initialize did not register
//	codex   methods in optOutNotificationMethods
//	        thread/readState/changed                  without experimentalApi
//
// # What is rewritten
//
// One to one and spliced into the bytes that were recorded, never re-encoded:
// request ids, message ids, the session id, the permission
// mode and the words of a denial that the client chose; the
// placeholders of working directory and home; and UUIDs that the runtime
// minted, fresh ones for each Seed. All other placeholders stay.
package standin
