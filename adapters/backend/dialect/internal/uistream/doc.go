// Package uistream translates events to the UI message stream of Vercel's AI SDK, which
// its useChat reads, and checks such streams.
//
// Versions 6 and 7 of the package ai accept what the Translator writes. The Checker is stricter
// than they are: they accept streams without a start, with two starts, with text that never
// ends, with chunks after finish, and with two outputs of a tool.
//
// # Streams
//
// A stream is a turn: start, the parts, finish. messageId is SESSION/TURN. There is one finish,
// also after a stop (abort, then finish with the reason other) and after an error (error, then
// finish with the reason error). A turn is one step, so there are no step chunks. Events
// outside of turns are left out: open a session's stream when its turn begins. Events of the
// session that occur during a turn are in its stream. Events of a sub-agent that outlives its
// turn are left out too, because a finished stream takes no more chunks.
//
// # Text and reasoning
//
// A block is a part, whose id is the block_id. Parts never overlap: a part ends when its block
// ends, and before another part or a tool begins. If a block goes on after that, it gets
// another part, with the id BLOCK#2. providerMetadata.turnspec names block and part, because a
// UI message does not keep the ids.
//
// The vocabulary cannot take text back. If a block was retracted or replaced, a part of type
// data-retracted or data-replaced names its parts. A replacing text that only continues what
// was sent is a delta.
//
// # Tools
//
// Tools are dynamic. While a tool runs, each piece of output adds a preliminary output, which
// is cumulative. If the session streams inputs, a call has tool-input-delta as the model writes
// them, and tool-input-error if the model does not finish it. The last output is a text; a tool without input has the input {}. tool-output-error is the
// end of tools that failed, that were denied and that were interrupted. What is more than
// text is in data-tool, whose id is the toolCallId: status, exit code, changed files, whether
// the output was cut, and media. Images and documents are no part of type file, which needs a
// URL of the bytes: events refer to them by their hash. A page that was fetched is
// a source-url after the output, whose sourceId is the toolCallId.
//
// # Requests
//
// Permissions are data-permission, with the request and, once answered, with its answer.
// Questions are data-question. tool-approval-request is used only if Approvals is set, for two
// reasons. In version 6 an answer ends the stream and begins another request, while a turn goes
// on here; and the messages of version 6 are invalid if a tool has an output after a request
// without an answer in the message. Version 7 has tool-approval-response.
//
// # Data
//
// The data of other parts is that of the event, in its JSON form, with subagent_id if the event
// has one. If a part has an id, a later one with the same type and id replaces it.
//
//	data-plan              plan
//	data-task              task
//	data-component         component_update with merged props; {"component_id","removed":true} after component_remove
//	data-notice            notice
//	data-compaction        compaction
//	data-checkpoint        checkpoint
//	data-user-message      user_message, if it entered the running turn
//	data-queue             queue; transient
//	data-tool-progress     tool_progress of the main agent; transient, its id is the toolCallId
//	data-subagent-text     a block of a sub-agent, when it has ended
//	data-subagent-reasoning
//	data-subagent-tool     a tool of a sub-agent: the start, and the result once there is one
//	data-subagent-usage    usage of a sub-agent
//	data-subagent-error    error of a sub-agent
//	data-NAME              any other event, with dashes in the name of its type; its id is the key of its row
//
// Usage, model, mode, stats and how the turn ended are in the metadata of the message.
package uistream
