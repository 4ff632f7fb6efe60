// Package agui translates events to AG-UI, version 1.0, and checks streams of it.
//
// The Checker follows the specification, https://docs.ag-ui.com/spec; testdata/vectors/agui.txtar
// of package dialect has streams for each of its rules, and what @ag-ui/client does with them.
// The client accepts some that break a rule, because it drops what it does not know and leaves
// some rules to producers. Where the Checker is stricter than the specification, the problem is advice.
//
// # Runs
//
// A turn is a run. threadId is the session, runId is SESSION/TURN. RUN_FINISHED has the outcome
// success, or cancelled if the turn was stopped; RUN_ERROR ends a turn with an error. Events
// outside of turns are left out, except that the state keeps what they change. A sub-agent that
// outlives its turn is finished with it, with the status running in its metadata.
//
// The outcome interrupt is not used: it ends the run, while a turn that asks something goes on.
// Requests and their answers are CUSTOM events.
//
// # Text, reasoning, tools
//
// The messageId of text and reasoning is the block_id; a block that goes on after its end gets
// another message, BLOCK#2. A call is TOOL_CALL_START, ARGS, END, and, when it has ended,
// TOOL_CALL_RESULT with the status, the exit code and the changed files in its metadata.
// If the session streams inputs, ARGS come as the model writes them. A call that the model does not
// finish has the result interrupted, and CUSTOM tool_input takes it back. Calls
// of a sub-agent have its subagentRunId, between SUBAGENT_STARTED and SUBAGENT_FINISHED or
// SUBAGENT_ERROR. A sub-agent that works again in the same turn is AGENT#2.
//
// The vocabulary cannot take text back: CUSTOM retracted and replaced name the messages.
//
// # State
//
// The state is {"components":{ID:{"component_name","props","surface"}},"plan":[STEP]}. A run
// begins with STATE_SNAPSHOT if it holds something, else the first change writes one. Further
// changes are STATE_DELTA.
//
// # CUSTOM
//
// All other events are CUSTOM: name is the type of the event, value its data, as in package
// event.
package agui
