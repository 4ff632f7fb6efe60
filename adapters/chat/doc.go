// Package chat is the adapter for models that offer chat completions over HTTP. There is no
// agent behind the API: the adapter itself keeps the history, runs the client's tools, asks
// for permission, and sends failed requests again.
//
// Requests and replies are lines of JSON, as package httplines has them. A relay in this
// program carries them to the server that the environment names: OPENAI_BASE_URL, with the
// key OPENAI_API_KEY. OPENAI_MODEL is the default model. With Options.Command, or CHAT_RELAY in
// the environment, that program carries them: it reads request lines from stdin and writes
// replies to stdout.
//
// # Opening
//
// There is no handshake: session_ready comes at once, and names the adapter's own session.
// The server stores nothing, so a session cannot be resumed or forked.
//
//	mode    asks about
//	never   nothing; the default
//	ask     calls of tools that are not ReadOnly
//
// Options.Instructions are the system message of each request, and Options.Effort is its
// reasoning_effort. A turn that has asked the model Options.MaxRequests times, and whose last reply
// calls tools, ends in an error when their results are there. Other modes are ErrUnsupported.
//
// Options.MCP are servers over stdio, streamable HTTP, or HTTP with server-sent events. The
// adapter starts or reaches them before session_ready, reads their lists of tools once, and
// ends them with the session. A tool of a server is mcp__SERVER__TOOL in events and for the
// Judge; requests name it so too, with _ for each sign that the API does not take. The mode ask
// asks about it unless its server says that it is read-only. A server that does not start is a
// notice, and the session opens without its tools. Images and sounds that a tool gives are media of its
// result; the model gets their types and sizes. Servers get no answer to requests of theirs, and
// are not asked for the progress of a call.
//
// # Turns
//
// A turn is one message of the user and as many requests as it takes until the model calls no
// tool. Messages that are sent during a turn wait in the adapter's queue for its end. Calls of
// a reply run together. The model gets their results, in the order of the calls, when each has
// one. A call of an unknown tool, or with arguments that are no JSON, has an error as its
// result, and so has one that Options.Judge or the user denies. A call without an id, or with
// that of an earlier call, gets one of its own.
//
// A reply that ends with length or content_filter ends the turn with that reason. Its calls
// do not run, because the last one may be incomplete.
//
// Stop aborts the request and cancels the tools. The history stays valid: what the model
// said stays without its calls, and calls of an earlier reply get a result that says so.
// Messages that wait have their turns a quarter of a second later, so that a second Stop does
// not stop the next one, and StopAll can still take them back. Steer is ErrUnsupported, because
// a request cannot be changed while the model replies: a message that is sent waits.
//
// # Retries
//
// A request is sent again at most twice, after 0.25 and 0.5 seconds or as long as Retry-After
// says, if there was no connection, if the stream was cut or ended without a reason, after
// the statuses 408, 409, 429 and 5xx, and after errors in the stream that may pass. What the
// failed attempt said is retracted. A quota that is used up, a wrong key and a context that
// is too long are not tried again.
//
// # Messages
//
//	status           an error: notice retry, or error. Else the stream begins; without one the
//	                 body is the reply
//	data             content and refusal: delta. reasoning_content, reasoning, reasoning_text:
//	                 thinking. tool_calls: the pieces of each call are joined, and are
//	                 tool_input, on request.
//	                 finish_reason: reason of done. usage: usage of the turn so far, at the
//	                 end of the reply. error: as a status
//	end              block_end; tool_start for each call; else result and done
//	error            as a status
//	text, comment    ignored: [DONE], which ends a reply that states no reason, and lines that
//	                 keep the connection open
//
// # Dialects
//
// Servers differ in what they send. Content may be a list of parts: those of type thinking are
// thinking, and a part of an unknown type is a notice. reasoning_details are thinking if no
// other member holds it; they do not go back to the server. A message in place of a delta, or
// after the deltas, adds what has not come before. Arguments may be an object. A piece belongs
// to the call with its index; a piece with the name and the id of another call begins one, also if
// the server counts no calls. An error may be in the chunk, in its choice, a string, or the
// chunk itself. The last usage counts, wherever it is. Of several choices the first is read, with
// a notice; pictures and sounds of the model are a notice.
//
// A line that belongs to no request, or is not JSON, is a notice with the raw line.
package chat
