// Package sidecar answers one question: how does a server that puts a runtime
// behind HTTP and server-sent events stand as a subject?
//
// This package is its client. ROUTES.md is the whole of what it asks and reads:
//
//	route                                   act
//	POST /sessions, /sessions/:id/resume    open
//	GET /sessions/:id/events                events, as they come
//	POST /sessions/:id/message              send
//	POST /sessions/:id/stop                 stop
//	DELETE /sessions/:id                    close
//	GET /health                             what it carries, if it says so
//
// Its events are those of package event, or a plain form of them that has no
// turns: {type, data, ts}, of ten types. A sidecar that declares turn_start in
// /health speaks the whole form; of it only ts, seq and session_id are filled in
// where they are missing. Of the plain form everything else is filled in too:
// session_ready and session_end, turns and what began them, blocks, ids of
// questions, how a call ended. What was filled in nobody is blamed or praised for:
// Carries denies it, and checks that need it are not expressible.
//
// A type that no event has becomes a notice, and a member of data that is not the
// event's is left out: a sidecar may tell its own users more. Whatever else is
// wrong with what it answers ends its session with a *process.PlugError, which
// says what to do next.
package sse
