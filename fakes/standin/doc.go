// Package standin plays a recorded case (package fixtures) as the runtime that it was
// recorded from. It is not part of the stable interface.
//
// A play runs in this process over pipes (Launcher) or as a program on stdio (Serve,
// Main). It writes nothing that the recording does not hold, and shares no wire code
// with the adapters that talk to it. It tests for no runtime by name: what runtimes do
// differently is in their wire.Runtime.
//
// # Barriers
//
// Each step of the recorded client is a barrier: output halts there until the
// subject does the equal step. A step that comes early is held until its barrier is
// reached, so that a stop always lands on the recorded partial text. Equal steps
// are: a message with the same text, or a transcript that ends with it behind the
// name of a speaker ("User: …"); a reply to the same request with an equivalent
// decision; a request about a session or thread that this play gave. If the case does
// not hold a step, it gets an error reply on wires that have one, and Unrecorded lists
// it. Violations lists the steps that contradict the recording (allow instead of deny)
// or that no client may do (a second reply to one request). The play goes on as
// recorded in either case, so that no client hangs.
//
// What a client chooses for a session (which one it opens, folder, model, mode,
// sandbox, hooks, schema) changes nothing that is played. Settings returns it together with
// what the recording's client had chosen, and RuntimeRequests returns the requests
// that the runtime made of its client, for the checks to judge.
//
// What is optional on the wire does not halt: notifications, a handshake that a client
// may leave out as soon as a later step has come, reads and configuration. Reads are
// answered at once, by method, from the case or from the lifecycle, in any order,
// without moving the play.
//
// A setting that the runtime refused is optional too: a client may check it itself.
//
// Two other steps do not halt: a stop while no turn runs, and what the recording's
// client did on another thread of the process. The lines of that thread are played
// anyway, as on a shared connection.
//
// If everything that a message causes follows the reply to it, the barrier of the
// message is right before that reply: a client may wait for lines (thread/started,
// say) that the recording's client did not wait for.
//
// If stdin is closed before the recording's client closed it, the process exits at
// once or plays up to the next barrier first (wire.Process.EndsAtEOF), in both cases
// with the recorded exit code. A process that a fault ends or lets hang reads and
// writes nothing more, and what its client does then is not recorded as missing.
//
// # What is left out
//
// A recording has every optional output on. A play leaves out what this client did
// not ask for:
//
//	claude  stream_event, status requesting           without --include-partial-messages
//	        lines with isReplay, echoed responses     without --replay-user-messages
//	        session_state_changed                     without CLAUDE_CODE_SDK_READS_SESSION_STATE (or the older
//	                                                  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS, which also removes sdk_host_only)
//	        text of a sub-agent in the foreground     without --forward-subagent-text
//	        command_lifecycle, user_message_uuid(s),  of a message sent without uuid
//	        owed_rows, first_request_*, request_sent_wall_ms
//	        calls of hooks                            that its initialize did not register
//	codex   methods in optOutNotificationMethods
//	        thread/readState/changed                  without experimentalApi
//
// # What is rewritten
//
// Values are spliced into the recorded bytes, which are never re-encoded: request
// ids, message ids, the session id, the permission mode and the reason of a denial
// that the client chose; the placeholders of working directory and home; and UUIDs
// that the runtime minted, fresh ones for each Seed. All other placeholders stay.
package standin
