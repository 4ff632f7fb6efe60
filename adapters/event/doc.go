// Package event answers one question: what does an adapter say?
//
// It holds the closed set of normalized events: one Go struct for the data of
// each type, the JSON form (one object a line), strict decoding and the JSON
// Schema (schema.json, published with the module).
//
// # Envelope
//
//	{"type","data","ts","seq","session_id","turn"?,"subagent_id"?}
//
// seq counts 1, 2, 3 … within a session, across resume too. turn is a number
// from 1; when it is absent the event belongs to the session. ts is the local
// time at which the wire line that caused the event was received: UTC,
// RFC 3339 with up to nine digits. subagent_id names the sub-agent whose event
// it is; on input data.subagent_id is accepted too, where older senders put it.
//
// # Order
//
// Events are ordered by (session_id, seq) and by nothing else. ts never runs
// backwards within a session, but ties are common: models stream several
// deltas within one millisecond.
//
// # Ends
//
// A turn ends in exactly one done or error. Before it every open tool gets its
// one tool_result (interrupted or backgrounded) and every open block its
// block_end. After it no event carries that turn, but for those of a sub-agent
// that still runs.
//
// # Decisions
//
// The set is frozen: a change is a decision and is written here.
//
//   - permission_request.options holds the runtime's own choices as strings
//     when they are strings, else as their JSON text.
//   - Lists of values are closed, those of notice codes, file changes, plan
//     steps, compaction phases and checkpoint actions too.
//   - null is no value: a field is there or it is not. Only where any JSON may
//     stand (input, props, value, raw) null may.
//   - Whole numbers have at most 53 bits, so that every reader keeps them.
//   - thinking.block_id is present whenever the text belongs to a block of the
//     runtime; the empty thinking at the start of a turn (activity) has none.
//   - block_end retracted may name a block of reasoning, behind its done: the
//     runtime abandoned it and thinks anew.
package event
