// Package replay reduces the events of a session to the chat that a user sees: live, after a
// reload, or from the end of a session of a million events.
//
// # Three ways to use it
//
//   - Stored events, in any order: Reduce. It costs as much as there are events.
//   - Live events: New, Reducer.Add, and a View whenever you draw. An event and a view cost the
//     same however long the session is. Any number of goroutines may read a View, which never
//     changes, while Add goes on.
//   - An event log with a long session: window.Keep where events are appended, and window.Open
//     where they are shown, with the options that were passed to Keep. It reads the newest
//     messages and what is open. Snapshots may be deleted at any time.
//
// The examples here and in package eventlog/window are compiled.
//
// # Drawing a chat
//
// A chat is a list of messages, and a message a list of blocks in the order of events. Draw the
// blocks in order and switch on Kind:
//
//	text         the model's text, Markdown: running, complete, interrupted
//	thinking     its visible reasoning: likewise
//	tool         a call, its input and output: writing, running, ok, failed, denied, interrupted, backgrounded
//	subagent     nested blocks: running, complete, failed, stopped, interrupted
//	permission   a request to let a tool run: pending, allowed, denied, cancelled, withdrawn
//	interrupt    a question to the user, a plan to approve: pending, answered, withdrawn
//	component    a UI component of the agent: loading, ready, error
//	plan         the current steps; one in a message
//	error        ended the turn, the sub-agent or the session
//	notice, compaction, checkpoint
//	any other    an event of this type, its data as JSON in Text; one in a message for each id
//
// A message is running, complete, stopped or failed. A user message is at the place where the
// runtime read it; messages that are still queued are in Queue. Number counts messages within a
// session, with gaps where one was retracted, and never changes: use it as the key of a drawn
// message, and the position of a block within its message. If the session streams the inputs of
// tools, a call is writing with its InputText so far, which is incomplete JSON; when it starts, a
// block with the whole input takes its place, at the end of the message. Link to the URL of a
// fetched page only if it is http or https. Media describes what a tool gave by type, size and
// hash: no chat holds the bytes.
//
// These are computed from the blocks and not stored: Message.Flat, Block.Summary ("Edit: 2
// files"), Block.Outcome ("+3 −1", "exit 1"), Tool.Category, Tool.Exchange, Chat.Stats,
// View.Stats, View.Doing ("Runs Bash: git status"). Durations come from ts, which orders nothing.
// Tokens and cost of Figures are those of the turn: of a session's usage it is what was added
// since the turn began, and tokens are missing if it is not known what a resumed session had
// used before.
//
// # Reduction
//
// The same reducer handles live and stored events: Reducer.Add reduces one event
// in constant time, and Reduce sorts stored events by (session_id, seq) and adds
// them. Neither uses ts, so events within a millisecond keep their order.
//
// # Order and loss
//
// If an event's seq is not above the last one, it was delivered twice (a stored
// prefix and a live stream overlap) and is ignored. Events without a seq are
// always added. A reducer copies what it stores: adapters may reuse their buffers.
// A Chat or View never changes after it was returned. It shares memory with later
// ones, so callers must not modify it.
//
// # Cost
//
// The cost of an event and of a View after it does not depend on the length of
// the session or the message. A reader pays for the messages that it reads. The
// start of a turn costs as much as is open then.
//
// # Sealed messages
//
// When a turn begins, the reducer seals the messages of ended turns, except those
// with something open: a running sub-agent or background tool, a question, a
// component that may be updated. A sealed message never changes, and its ids are
// dropped: if an id appears again, it is a new block in the current turn. So a
// sub-agent that gets another message in a later turn appears in that turn, below
// the tool call that sent it. An event of a dropped turn goes to a session message;
// another end of that turn has no effect. Chat.Tasks are likewise the running tasks
// and those that ended since the turn began.
//
// The state of a Reducer is therefore what is open. Snapshot writes this state with
// the newest messages. Package eventlog/window stores snapshots, and opens the end
// of a long session with them.
//
// # Messages
//
// The first block of a turn creates the assistant's message. A user message within
// a turn (merged or steered) completes the assistant's message: later blocks go to a
// new message of the same turn, while open blocks continue where they are. If a turn
// is stopped or fails, its last assistant message has that status, and is created if
// there is none. Blocks that belong to no turn (notices, errors of the session) are
// in messages of RoleSession. A second end of a turn has no effect.
//
// # Blocks and paragraphs
//
// All deltas of a block_id make one block, whatever comes between them. Different
// block_ids are different paragraphs. Deltas without a block_id continue the last
// block, unless a tool, a question, reasoning or a plan came between. Text joins
// blocks with exactly one blank line: newlines of the model at the boundary are not
// doubled, none are added at the start or end, and blocks of white space are left
// out.
//
//	block_end complete      closes the block
//	block_end replaced      replaces its text
//	block_end interrupted   keeps the text and marks the block
//	block_end retracted     removes the block
//	thinking                accumulates; without text it is only activity
//	tool_output             is appended; a result that is not empty replaces it
//	tool_progress           replaces the one before, while the tool runs
//	plan                    one block in a message, which later plans replace
//	result                  adds text only to a turn that has none
//	component_update        sets a block on the surface chat, else a component in
//	                        Chat.Components; merge sets only the given members
//	component_remove        removes the component, if there is one
//	any other event         adds a block of its type, which a later one with the same key replaces;
//	                        that of a transient one goes when its tool or turn ends
//	error                   ends its scope and adds a block; it is also set on the
//	                        message of the turn or session, or on the sub-agent
//
// WithRegistry lets a registry reject components. It also gives the calls of linked
// tools a component block before the tool's block: loading with the input as props
// while the tool runs, then ready or error with the members of the output merged.
//
// The end of a turn closes its open blocks: tools become interrupted, questions
// withdrawn, text and thinking complete or interrupted. A block that arrives after
// the end of its turn or sub-agent is closed at once.
//
// # Sub-agents
//
// Events with a subagent_id go into a block of kind subagent, never into the
// parent's text. The block is nested in the tool that spawned the sub-agent: the one
// that its task names, or the one whose tool_use_id is the subagent_id. If neither
// is known, it is in the message of the turn, and moves when the link arrives. Its
// status is that of its task, or of its tool's result if there is no task.
package replay
