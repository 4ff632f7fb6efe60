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
//	GET    /metrics                         gauges in Prometheus' text format
//	GET    /sessions                        a [Run] for each session of the log, the latest first
//	POST   /sessions                        open a session: session_id, runtime, params
//	GET    /sessions/{id}                   its Run
//	POST   /sessions/{id}/resume            continue a session that ended, or with provider_session_id one that the log does not hold: params
//	DELETE /sessions/{id}                   end the session; its log stays
//	POST   /sessions/{id}/message           message, message_id?, seen?: begin a turn
//	POST   /sessions/{id}/steer             message, message_id?: add to the running turn
//	POST   /sessions/{id}/do                an optional operation, such as {"do":"withdraw","message_id":"m1"}: see Operations
//	POST   /sessions/{id}/stop              stop the running turn
//	POST   /sessions/{id}/permission/{of}   decision, message?, input?, scope?
//	POST   /sessions/{id}/interrupt/{of}    value
//	GET    /sessions/{id}/calls             server-sent: the calls of the client's tools and hooks that wait
//	POST   /sessions/{id}/calls/{of}        content, is_error? of a tool; output of a hook; error: the result of a call
//	POST   /sessions/{id}/callback          component_id, action, payload?, message_id?: an action of the user in a component
//	GET    /sessions/{id}/state             the state that the user and the agent share: {"version","state"}
//	POST   /sessions/{id}/state             version?, merge or patch: change it
//	GET    /sessions/{id}/events            server-sent events; ?after=SEQ or Last-Event-ID; ?format=DIALECT or Accept; or a WebSocket
//	GET    /sessions/{id}/lists/{list}      a list of the runtime: models, commands, mcp, account, sessions
//	GET    /sessions/{id}/history           a page of stored events: ?after=SEQ&limit=N
//	GET    /sessions/{id}/media/{hash}      the bytes of an image, a sound or a document to which an event refers by sha256
//	GET    /sessions/{id}/artifacts         the files that tools changed, with a reference and the diff of each version
//	GET    /refs/{ref}                      the event that a reference names: SESSION#SEQ, with # as %23
//	GET    /sessions/{id}/chat              the newest messages as a chat, and the seq to continue from: ?messages=N
//	GET    /sessions/{id}/view              server-sent: the same chat as patches (package page), as it changes
//	GET    /                                a chat page, which asks for the token
//	GET    /events                          server-sent: a Run whenever the state of one changes
//	POST   /api/chat                        answered with the stream of a turn, for useChat of the AI SDK 7
//	GET    /api/chat/{id}/stream            the stream of the turn that runs, from its start, or 204
//	POST   /ag-ui                           answered with the stream of a turn, for HttpAgent of AG-UI 1
//
// # Params
//
// In params are workingDir, permissionMode (default, acceptEdits, plan, dontAsk, bypassPermissions, or one of the
// runtime's), toolPreset (one of [Config].Presets; it is not stored, so a resume must name it again),
// policy (in the form of package policy) and components (see Components), which a resume must give again too,
// mcpServers, schema (a JSON schema of the final answer of each turn), limits, heartbeat_ms, and the options
// of op.Opening: model, effort, instructions, replace_instructions, max_requests, max_cost, extra_dirs,
// setting_sources, checkpoints, stream_tool_input, unarchive. With fork, the new session begins with the
// history of provider_session_id, up to the turn in at, and its turns are counted on from after.turn of the
// body. Health lists the operations and options that all runtimes have. An option that is missing has the value of the
// server's configuration.
//
// An option that the runtime does not have is refused with the code unsupported. An unknown member of
// any body is refused with the code invalid; the message has its path.
//
// With transcriptOf, the id of another session, a new session goes on with what the log holds of that one, also
// on another runtime: the newest messages, up to 64 KiB, become part of its instructions. It runs in the folder
// of the other one unless params name another.
//
// A session is continued in the folder and the permission mode that its events report, unless
// params name others.
//
// A failure is {"error":{"code","message"}}. The codes are listed at [RefusalError].
//
// While the log is full, new sessions and messages are refused with 507 and the code full; before a
// session opens, the server stores its owner, so that the first one is refused too. While events wait, health
// has "ok":false with the same error. The events of sessions that run wait in memory; when there is
// space they are stored, and all goes on.
//
// # Events
//
// Each event of the stream has its seq as id, its type as event, and as data its JSON
// form (package event). Without a cursor the stream begins with the session_ready of the
// session that runs here, or of the first one in the log. A listener that has all events
// of a session that ended gets 204, which ends the reconnecting of a browser's
// EventSource. A comment is sent every [Config.Heartbeat], or every params.heartbeat_ms of the
// request that opened the session if that is shorter.
//
// If a live event reaches a listener later than [Config.MaxLag], the listener is slow: it
// is sent the event listener_cut, with the reason and the last seq that it received, and
// the stream ends. It may reconnect with that seq.
//
// # Formats
//
// With format the stream has the messages of a dialect (package dialect) in place of events:
// uistream, uistream-approvals, agui, agentui or wsmessages. It is a parameter of the address, or
// of the media type in Accept: text/event-stream; format=agui. The address wins. Each message has the id SEQ.N: it is
// the Nth that the event SEQ became. A listener that reconnects with it continues after that
// message; the server translates the session from its first event for that. A slow listener
// is cut off without a message.
//
// An answer in uistream or agui ends with its turn. Without a cursor it begins with the turn
// that runs, or that a message was accepted for; if there is none, the answer is 204. That is
// what the transports of these front ends expect.
//
// # Front ends
//
// SERVE.md, beside this package, shows how useChat, HttpAgent and CopilotKit use the server. The id of the chat, or of the thread,
// is the id of the session: the first message opens it with the options of the server, and a later one resumes it
// if it has ended. A server of several runtimes needs runtime in the body, or in forwardedProps. Of the messages in
// the body only the last one of the user counts: the runtime has the history. A message whose id was sent before is
// answered with its turn again, and regenerate sends the last message once more, after the earlier turn.
//
// A permission request and a question end the stream: in the AI SDK with a tool-approval-request, or with a call of a
// dynamic tool whose output the client gives; in AG-UI with the outcome interrupt. The next request has the answers, and
// its stream goes on after the request. A payload of AG-UI is {"approved":true}, with editedArgs if the call runs with
// another input, or {"approved":false}, with message for the model. The value of a question is the payload.
//
// If the client closes the stream, as stop and abortRun do, the turn is stopped after [Config.StopAfter], unless a
// client asks for the stream again. A message that comes in this time, or while a request waits for an answer,
// stops the turn first. While a client reads the stream of a turn, or if another route began the turn,
// a message is refused with 409 and the code busy.
//
// # WebSocket
//
// With Upgrade: websocket the same route sends the messages of a dialect, wsmessages if format
// names no other one, each as a text. Its id is its member cursor, "SEQ.N"; with ?after=CURSOR a
// listener continues after it. The server pings the listener at each heartbeat. It closes the
// socket with 1000 when nothing more comes (the session has ended, or the turn in uistream and
// agui), with 1013 if the listener is slow, else with 1001: after these two a listener connects
// again. The listener sends no messages; it uses the other routes for what it does. A browser
// cannot set a header of a WebSocket, so its token is in the cookie.
//
// # Messages
//
// A message with a message_id runs once: if it is sent again, the answer is 200 with
// "repeated":true. A message without one is refused with 409 while a turn runs, because
// it could be a repetition. With seen, the last seq that the client knew, the message is
// refused with 409 if a turn began after it.
//
// # Operations
//
// The body of the route do is an op.Call: its do names one of the rows of package op, its other
// members are those of the row. The answer is {"ok":true}, with result if the operation returns
// one: {"do":"list","list":"models"} returns the entries. Steer is answered as a message. An
// operation that the runtime does not have is refused as the adapter refuses it, with the code
// unsupported.
//
// # Tools and hooks of the client
//
// With params.tools (name, description, schema, read_only) and params.hooks (event, matcher, timeout_s), the runtime
// calls what the client has. The stream calls has a message call for each, with id, tool or hook (its index), input and
// tool_use_id, and a message end with the id when the call does not wait any more, because it has its result or
// because the runtime, a stop or the end of the turn cancelled it. A client that connects again receives the
// calls that wait. A tool is called only after it was allowed to run. A call waits as long as its turn runs. A
// resume must give tools and hooks again.
//
// # Components
//
// With params.components, a Definition of package component, the agents of the session can show the components
// that the client has, ask the user with them, and share a state with the user; the client draws them from the
// events. A callback becomes the answer to the interrupt whose component it names, or else a message to the
// agent. A change of the state that names a version is refused with 409 and the code stale_state if the state has
// another one. In a session without components these routes are answered with 501 and the code unsupported.
//
// # Unused sessions
//
// With [Config.IdleAfter] the runtime of a session is ended if the session is unused for that long: no turn
// and no task runs, no request waits for an answer, and its events have no listener (view does not count). The log
// then ends in session_end, and the Run has idle. The next message, operation or list resumes the session with
// what it was opened with, also the model and the mode that were changed since. After a restart of the server a
// client resumes it itself.
//
// # Media
//
// The server stores the bytes that tools gave beside the events of the session, before the
// event that refers to them. A reference does not promise that they are there: sessions
// recorded by other means have none, and a medium may be too large
// (eventlog.MediaBytes). The answer is then 404 with the code unknown_media, also if
// another session holds the bytes.
//
// A tool chose the bytes and their type, so an answer forbids the browser to guess another
// type (X-Content-Type-Options: nosniff) and to run anything in it (Content-Security-Policy:
// sandbox). Everything except raster images and sounds is an attachment, which a
// browser saves in place of showing it; images in SVG too. Bytes of a hash never
// change, so answers may be cached for ever, but only by the client itself. Parts can be
// asked for (Range).
//
// # Agents
//
// With [Config.Agents], the agent of a session can send messages to that of another one
// of this server (package exchange). A session that an agent opens is like any other:
// it is listed, stored and served, and ends with DELETE.
//
// # Security
//
// The server demands a token (Authorization: Bearer, or the cookie turnspec_token), a
// Host that it serves, and, from browsers, an Origin that has this Host or is in
// [Config.Origins]. Bodies, listeners and sessions are limited. [Server.Serve] also limits
// connections without the token, and ends within seconds whatever clients do; in an
// http.Server of your own, set its timeouts. It does not encrypt: put
// it behind a proxy that does before it listens on anything but loopback.
//
// A runtime runs what a model asks for, so it must not learn the token: with it, a model could
// open a session that asks for no permission. Runtimes inherit no variable that configures
// Turnspec or its log (adapters/proc.Environ), unless [Config.Base] has an environment.
//
// # Users
//
// With [Config.Users], requests present the token of a user, and each user sees, lists, resumes, forks and
// uses only the sessions that it opened, and receives only their events and media. For a session of
// somebody else the answer is that for one that does not exist: 404 with the code unknown_id. Only to open a
// session under its id is refused with 409 and the code exists, because ids are those of all
// users. The same holds for the runtime's own sessions: a user forks, resumes and lists only those of its
// own sessions, and its agents reach only these. Who presents [Config.Token] sees all sessions, with their
// owners. Sessions that were stored without an owner are for that token only.
//
// The owner of a session is stored in the log before the session runs, and stays, whoever resumes it. When a
// token is removed ([Users.Load]), its requests and streams end; the user's sessions go on, because the
// user may have another token.
//
// Users are kept apart by the routes, and not by the operating system: all runtimes run as the user of
// the server, with its files. A user who asks for bypassPermissions, or for an MCP server with a
// command, runs programs there. If users must not read each other's files, run a server for each, as
// another user of the operating system or in another container. The hashes, from which no token follows
// if tokens are long and random, may be readable to the runtimes; they must not be writable.
//
// # Several machines
//
// Servers that share a log, in PostgreSQL or NATS JetStream, call [Server.Join]. Each of
// them serves the history, the chat and the live events of every session. A session's
// runtime is a process of one machine, so one server runs it, which a lease says (package
// lease). A request that needs the runtime is refused by the others with 421 and the code
// elsewhere; server holds the name and the URL of the one to ask. It is refused rather
// than forwarded, because servers then need not reach or trust each other, and a client
// that keeps to the named server saves a hop for each message. The feed GET /events holds
// the sessions that run on the server that is asked, and those that it took over.
//
// A session is known to all servers when the request that opens it is answered, before its
// first event is stored: until then its history is empty elsewhere.
//
// If a server is killed, or stalls for [Shared].TTL, another one claims its sessions within
// one and a half TTL: what was open is closed, a turn that ran ends in an error with the
// code crash, and the session ends, or is resumed if [Shared].Recovery says so. A server
// that stalled ends the sessions that it lost. In between, both may run the session's
// runtime, but only one of them can append to the log, so listeners see one history.
// What a tool did outside the log is not undone.
//
// The runtime of a killed server sees the end of its input. Codex then exits within a second,
// but Claude Code finishes its turn first, unseen and beside the process that resumes the session.
// Let what starts the server end all its processes with it, as systemd and containers do.
//
// Resuming needs the files of the runtime: put the home of the runtimes and the working
// directories on storage that the servers share, or let Recovery be RecoverClose.
//
// # A thousand machines
//
// One log serves as many machines as its database takes appends. A server appends the
// events of all its sessions in few transactions. Beyond that, shard by session: run
// groups of servers, each with its own database or its own NATS name, and let the proxy
// choose the group by a hash of the session id in the path. Groups share nothing, so each
// can be sized, upgraded and lost by itself. In PostgreSQL the first limit is NOTIFY, which
// serializes the commits of a database; in NATS it is the leader of the stream. Each server
// renews one registration and asks for abandoned sessions four times a TTL: raise the TTL
// with the number of servers.
//
// Backpressure goes from the log to the model: while the log takes no events, up to 4,096
// events or 16 MiB of a session wait in memory (eventlog.RecorderOptions), then the
// server stops reading from the runtime. If the log is away for longer than a minute, the
// session ends. A listener that does not read holds one page of events, and is cut after
// [Config.MaxLag]. Its events are in the log.
//
// Logs keep everything until somebody calls Expire of the log, once a day from one program,
// which deletes whole sessions that no server runs.
package sidecar
