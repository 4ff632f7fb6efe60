// Package sidecar serves sessions of adapters over HTTP and server-sent events.
//
// A [Server] is an http.Handler. It opens sessions with the adapters that it was given,
// stores their events in an eventlog.Log, and sends each listener the events from the
// log. So each listener reads at its own pace, a turn outlives all its listeners, and a
// listener that reconnects continues after the last event that it received.
//
// # Routes
//
//	GET    /health                          what the server supports
//	GET    /sessions                        a [Run] for each session of the log, the latest first
//	POST   /sessions                        open a session: session_id, runtime, params
//	GET    /sessions/{id}                   its Run
//	POST   /sessions/{id}/resume            continue a session that ended: provider_session_id?, params
//	DELETE /sessions/{id}                   end the session; its log stays
//	POST   /sessions/{id}/message           message, message_id?, seen?: begin a turn
//	POST   /sessions/{id}/steer             message, message_id?: add to the running turn
//	POST   /sessions/{id}/stop              stop the running turn
//	POST   /sessions/{id}/permission/{of}   decision, message?, input?, scope?
//	POST   /sessions/{id}/interrupt/{of}    value
//	GET    /sessions/{id}/events            server-sent events; ?after=SEQ or Last-Event-ID; ?format=DIALECT
//	GET    /sessions/{id}/lists/{list}      a list of the runtime: models, commands, mcp, account, sessions
//	GET    /sessions/{id}/history           a page of stored events: ?after=SEQ&limit=N
//	GET    /sessions/{id}/chat              the newest messages as a chat, and the seq to continue from: ?messages=N
//	GET    /sessions/{id}/view              server-sent: the same chat as patches (package page), as it changes
//	GET    /                                a chat page, which asks for the token
//	GET    /events                          server-sent: a Run whenever the state of one changes
//
// A failure is {"error":{"code","message"}}. The codes are listed at [RefusalError].
//
// # Events
//
// Each event of the stream has its seq as id, its type as event, and as data its JSON
// form (package event). Without a cursor the stream begins with the session_ready of the
// session that runs here, or of the first one in the log. A listener that has all events
// of a session that ended gets 204, which ends the reconnecting of a browser's
// EventSource. A comment is sent every [Config.Heartbeat].
//
// If a live event reaches a listener later than [Config.MaxLag], the listener is slow: it
// is sent the event listener_cut, with the reason and the last seq that it received, and
// the stream ends. It may reconnect with that seq.
//
// # Formats
//
// With format the stream has the messages of a dialect (package dialect) in place of events:
// uistream, uistream-approvals, agui, agentui or wsmessages. Each message has the id SEQ.N: it is
// the Nth that the event SEQ became. A listener that reconnects with it continues after that
// message; the server translates the session from its first event for that. A slow listener
// is cut off without a message.
//
// An answer in uistream or agui ends with its turn. Without a cursor it begins with the turn
// that runs, or that a message was accepted for; if there is none, the answer is 204. That is
// what the transports of these front ends expect.
//
// # Messages
//
// A message with a message_id runs once: if it is sent again, the answer is 200 with
// "repeated":true. A message without one is refused with 409 while a turn runs, because
// it could be a repetition. With seen, the last seq that the client knew, the message is
// refused with 409 if a turn began after it.
//
// # Agents
//
// With [Config.Agents], the agent of a session can send messages to that of another one
// of this server (package exchange). A session that an agent opens is like any other:
// it is listed, stored and served, and ends with DELETE.
//
// # Security
//
// The server demands the token (Authorization: Bearer, or the cookie turnspec_token), a
// Host that it serves, and, from browsers, an Origin that has this Host or is in
// [Config.Origins]. Bodies, listeners and sessions are limited. It does not encrypt: put
// it behind a proxy that does before it listens on anything but loopback.
package sidecar
