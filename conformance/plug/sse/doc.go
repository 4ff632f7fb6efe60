// Package sse tests a sidecar: a server that offers a runtime over HTTP and
// server-sent events.
//
// This package is its client. ROUTES.md describes all requests and events:
//
//	route                                   step
//	POST /sessions, /sessions/:id/resume    open
//	GET /sessions/:id/events                the events, as they are emitted
//	POST /sessions/:id/message              send
//	POST /sessions/:id/stop                 stop
//	DELETE /sessions/:id                    close
//	GET /health                             what it declares, if anything
//
// The events are those of package event, or a plain form of them that has no
// turns: {type, data, ts}, of ten types. A sidecar that declares turn_start in
// /health sends the whole form; this package fills in ts, seq and session_id if
// they are missing. In the plain form it fills in everything else too:
// session_ready and session_end, turns and their causes, blocks, ids of questions,
// how a call ended. Supports denies what was filled in, so checks that need it are
// not expressible.
//
// A subject whose address begins with ws:// sends the messages of its dialect over
// WebSocket; its other routes are the same.
//
// In the plain form an event of an unknown type becomes a notice, and unknown
// members of data are dropped, because a sidecar may send its own users more.
// Every other mistake ends the session with a *plug.Error, which describes what to do
// next.
package sse
