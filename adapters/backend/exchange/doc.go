// Package exchange lets the agent of one session send messages to that of another. It is
// not part of the stable interface.
//
// A [Hub] wraps adapters. Each session of a wrapped adapter that has client tools offers
// the model the tool agents_message:
//
//	{"to": "codex", "message": "How many birds are there?", "wait": false}
//
// to is the name of an agent, which is that of an adapter, or the id of a session. With
// a name, the hub finds the session that the sender used before for this agent, or opens
// one; its id is that of the sender, a hyphen, and the name. It works in the sender's
// folder and mode.
//
// An exchange is one message and its answer. Without wait, the call returns at once with
// the id of the exchange, and when the receiver's turn has ended, the answer reaches the
// sender as a message of its own. With wait, the call returns the answer. While a session
// has a turn, messages for it are queued, so an answer is that of exactly one message.
// The answer is the final text of the receiver's turn.
//
// # Events
//
// An exchange is a sub-agent of the sender, so it needs no events of its own. The sender's
// stream holds, after the tool_start of the call:
//
//   - task, kind subagent, running: task_id is the id of the exchange, tool_use_id the
//     call, name the receiver's session, and text the message;
//   - the receiver's text and tools, with the id of the exchange as subagent_id and
//     in front of their own ids;
//   - task with the end, and the answer as text.
//
// The message's id in the receiver's stream is that of the exchange. The id of the
// message that brings the answer is the same with the suffix "-answer": see [Of].
// Package replay shows the exchange as a block below the call, live and from the log.
// The receiver's reasoning and questions appear in its own session only.
//
// The last task is completed if the receiver's turn was; stopped, if somebody stopped
// that turn; failed, if it ended in an error, if the receiver's session or process ended,
// or if the limit passed; and interrupted, if the sender was stopped while it waited, or
// its session ended. In the last two cases the hub stops the receiver's turn.
//
// # Limits
//
// A message that a limit forbids is the call's error: an [Error] as JSON, which the model
// can read. An agent cannot send a message to itself or to a session that waits for its
// answer. See [Config] for the others.
package exchange
