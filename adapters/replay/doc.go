// Package replay answers one question: which chat do these events make?
// CHAT.md says how a chat is built on it.
//
// It holds one reducer, for events as they come and for events that were
// stored: Reducer.Add takes one event at a time in constant time, Reduce orders
// stored ones by (session_id, seq) and adds them. Neither looks at ts, so ties
// within a millisecond scramble nothing.
//
// # Order and loss
//
// An event whose seq is not past the last one was delivered twice (a stored
// prefix and a live stream overlap) and is dropped; events without a seq are
// all taken. Everything that a reducer keeps is its own copy: adapters may
// reuse their buffers. A Chat or View that was handed out never changes; it
// shares memory with later ones and must not be written to.
//
// # Cost
//
// An event costs the same however long the session or a message is, and so does
// a View taken after it; what a reader pays is what it reads of the view. The
// begin of a turn costs what is open then.
//
// # What is over
//
// As a turn begins, the messages of turns that are over are sealed, but for
// those that hold something that goes on: a sub-agent or a tool in the
// background, a question, a component that may be updated. A sealed message
// never changes, and its ids are forgotten: an id that comes again is a new
// thing, in the turn that it comes in. So a sub-agent that is told something
// more in a later turn stands there, below the call that told it. An event of
// a turn that is forgotten stands in a message of the session; another end of
// it changes nothing. Chat.Tasks are likewise those that run and those that
// ended since the turn began.
//
// What a Reducer must remember is so what is open, which is what Snapshot
// writes, with the newest messages. Package eventlog/window stores snapshots
// and opens the end of a long session by them.
//
// # Messages
//
// The assistant's message of a turn is made by its first block. A user's
// message within a turn (merged or steered) stands where the runtime took it
// and completes the assistant's message before it: what follows is a new
// message of the same turn, while blocks that were open go on where they
// stand. A turn that was stopped or failed says so on its last assistant
// message, which is made if there is none. What belongs to no turn (notices,
// errors of the session) stands in messages of the role session. A second end
// of a turn changes nothing.
//
// # Blocks and paragraphs
//
// The pieces of one block_id are one block where it began, whatever came
// between them; different block_ids are different paragraphs. Pieces without a
// block_id go on the last block, unless a tool, a question, reasoning or a plan
// came between. Text joins blocks with exactly one blank line: newlines that
// the model said at the boundary count and are never doubled, none are added at
// the start or the end, and blocks of white space alone are not seen.
//
//	block_end complete      the block is closed
//	block_end replaced      its text becomes the given text
//	block_end interrupted   the text stays and is marked
//	block_end retracted     the block is gone
//	thinking                accumulates; an empty one is activity and no block
//	tool_output             is appended; a result that is not empty replaces it
//	plan                    one block a message, which later plans replace
//	result                  adds text only to a turn that has none
//	component_update        on the surface chat a block where it was or now is,
//	                        else data by id in Chat.Components; merge lays its
//	                        members over those that were there
//	component_remove        the component is gone; one that is not there: nothing
//	error                   ends its scope and stands there as a block; it is also
//	                        on the message of the turn or of the session, or on
//	                        the sub-agent
//
// WithRegistry lets a registry refuse components, and gives the calls of tools
// that it links a block of kind component before the tool's: loading with the
// input as props while the tool runs, then ready or error with the members of
// its output laid over them.
//
// At the end of a turn whatever it left open is closed: tools are interrupted,
// questions withdrawn, text and thinking complete or interrupted. What comes for
// it later is closed at once, and so is what comes for a sub-agent that is over.
//
// # Sub-agents
//
// Events with a subagent_id go into a block of kind subagent, never into the
// parent's text. It is nested in the tool that spawned it: the one that its
// task names, or the one whose tool_use_id is the subagent_id; while neither is
// known it stands in the message of the turn, and moves when the link comes.
// Its state is what task says; without a task it is that of its tool's result.
package replay
