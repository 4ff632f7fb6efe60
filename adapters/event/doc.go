// Package event defines the closed set of normalized events that adapters emit.
//
// It holds one Go struct for the data of each type, the JSON form (one object per
// line), strict decoding, and the JSON Schema (schema.json, published with the
// module).
//
// # Envelope
//
//	{"type","data","ts","seq","session_id","turn"?,"subagent_id"?}
//
// seq counts 1, 2, 3 … within a session, and goes on if the session is resumed.
// turn is a number from 1; if it is absent, the event belongs to the session. ts is
// the local time at which the wire line that caused the event was received: UTC,
// RFC 3339 with up to nine digits. subagent_id is the sub-agent of the event; on
// input data.subagent_id is accepted too, because older senders use it.
//
// # Order
//
// Events are ordered by (session_id, seq) and by nothing else. ts never decreases
// within a session, but ties are common, because models stream several deltas within
// one millisecond.
//
// # Ends
//
// A turn ends in exactly one done or error. Before it, every open tool gets its one
// tool_result (interrupted or backgrounded) and every open block its block_end.
// After it, no event carries that turn, except those of a sub-agent that is still
// running.
//
// # Presence
//
// The reference adapters set an optional field if the runtime states the fact, in that
// line or before: the cost and the context of usage, the stats of a result, the reason
// of done, the tokens of a compaction, the provider_turn_id of turn_start, the model, cwd
// and version of session_ready. Another adapter may leave it out; what it sets must be
// what the runtime states. An error's message holds that of the runtime.
//
// # A new type
//
// A type is a struct in data.go or tooldata.go, and a row in rows.go: its key, and whether it is
// transient. Its name follows from that of the struct. go generate writes the constant, the methods
// and the schema. All that carries events carries it from then on: the reducer and the chat page show
// it as a block of its type, AG-UI has it as CUSTOM, UIMessageStream as data-NAME and Agent UI as
// data.NAME, and mappings read it back. Code has a case for a type only if it draws or translates it
// in another way.
//
// # Decisions
//
// The set is frozen: a change is a decision and is recorded here.
//
//   - permission_request.options holds the runtime's own choices as strings
//     if they are strings, else as their JSON text.
//   - Lists of values are closed, including those of notice codes, file changes,
//     plan steps, compaction phases and checkpoint actions.
//   - null is not a value: a field is present or absent. null is accepted only
//     in fields of arbitrary JSON (input, props, value, raw).
//   - Whole numbers have at most 53 bits, so that every reader keeps them exactly.
//   - thinking.block_id is present if the text belongs to a block of the runtime;
//     the empty thinking at the start of a turn (activity) has none.
//   - The approval of a plan is an interrupt. Its props hold the text of the plan, even
//     if the runtime asks without it, as Claude Code 2.1.329 does.
//   - The value of interrupt_resolved is "allow" or "deny" if a question, such as the approval
//     of a plan, was answered without a value. null means that there was no answer, or that a
//     transcript does not hold it.
//   - A web search is WebSearch with its query, a fetched page is WebFetch with its url, and
//     never a search. Codex states only at the end of a hosted call which of them it was;
//     its tool_start comes then, because a name cannot be taken back.
//   - tool_result.truncated is set if the runtime states that it cut the output. A note
//     within the output, as Codex writes it, is not a statement: a command may print it.
//   - tool_result.media refers to images, sounds and documents by size and hash. Events never
//     hold their bytes, which would make logs and pages large. A session hands the bytes to
//     adapters.Options.Media, right before the event; a log stores them beside its events.
//   - tool_input is emitted only on request (Options.StreamToolInput): a reader that wants whole
//     inputs has them in tool_start, and the pieces of one input may be thousands. Each call
//     that has pieces starts or is dropped. Inputs of sub-agents have no pieces.
//   - tool_progress is what a runtime states about a tool that runs, and is neither a part of its
//     output nor an end. An adapter does not measure: elapsed_ms is the time of a statement of the
//     runtime (Claude Code has one every 30 seconds), and progress counts what the tool counts.
//     It is emitted for open tools alone: none comes before tool_start or after tool_result. What
//     a runtime writes as the output so far, as Pi does, is tool_output, and the title of a call,
//     which OpenCode and agents of ACP may change while it runs, describes the call and not how
//     far it is.
//   - usage.scope names what the tokens count. Claude Code, Pi, OpenCode, ACP agents and chat
//     report a turn, Codex a session.
//   - A question of the runtime that arrives when its turn does not run is denied at once and
//     becomes a notice late, a warning with the question as raw. It is no permission_request.
//   - block_end retracted may name a block of reasoning after its done, if the
//     runtime abandoned it and thinks again.
package event
