// A small chat server that puts Claude Code behind one route: the reply to a message is the stream
// of its turn. POST /api/chat is for useChat of the AI SDK, POST / for HttpAgent of AG-UI.
const { spawn } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const http = require("node:http");
const { createInterface } = require("node:readline");

const argv = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages".split(" ");
const chats = new Map();

// uiStream writes the chunks of a UI message stream.
function uiStream(send) {
  return {
    headers: { "x-vercel-ai-ui-message-stream": "v1" },
    begin: () => send({ type: "start", messageId: randomUUID() }),
    open: (kind, id) => send({ type: `${kind}-start`, id }),
    piece: (kind, id, delta) => send({ type: `${kind}-delta`, id, delta }),
    close: (kind, id) => send({ type: `${kind}-end`, id }),
    call: ({ id, name, input }) => send({ type: "tool-input-available", toolCallId: id, toolName: name, input, dynamic: true }),
    result: (id, text, failed) =>
      send(failed ? { type: "tool-output-error", toolCallId: id, errorText: text, dynamic: true } : { type: "tool-output-available", toolCallId: id, output: text, dynamic: true }),
    end(error) {
      if (error) send({ type: "error", errorText: error });
      send({ type: "finish" });
      send("[DONE]");
    },
  };
}

// aguiStream writes the events of AG-UI.
function aguiStream(send, { threadId, runId }) {
  const name = { text: "TEXT_MESSAGE", reasoning: "REASONING_MESSAGE" };
  return {
    headers: {},
    begin: () => send({ type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" }),
    open: (kind, messageId) => send({ type: `${name[kind]}_START`, messageId, role: kind === "text" ? "assistant" : "reasoning" }),
    piece: (kind, messageId, delta) => send({ type: `${name[kind]}_CONTENT`, messageId, delta }),
    close: (kind, messageId) => send({ type: `${name[kind]}_END`, messageId }),
    call({ id, name, input }) {
      send({ type: "TOOL_CALL_START", toolCallId: id, toolCallName: name });
      send({ type: "TOOL_CALL_ARGS", toolCallId: id, delta: JSON.stringify(input) });
      send({ type: "TOOL_CALL_END", toolCallId: id });
    },
    result: (id, text) => send({ type: "TOOL_CALL_RESULT", messageId: `result-${id}`, toolCallId: id, content: text, role: "tool" }),
    end: (error) => send(error ? { type: "RUN_ERROR", message: error } : { type: "RUN_FINISHED", threadId, runId }),
  };
}

// turn translates the lines of one turn. It returns true with the last one.
function turn(stream) {
  const calls = new Set();
  let open; // the part that has begun and not ended
  const close = () => open && (stream.close(open.kind, open.id), (open = undefined));
  const end = (error) => {
    close();
    for (const id of calls) stream.result(id, "interrupted", true);
    stream.end(error);
  };
  stream.begin();
  const read = (m) => {
    if (m.parent_tool_use_id) return false; // of a sub-agent
    if (m.type === "stream_event") {
      const { type, content_block: block, delta } = m.event;
      const kind = { text: "text", thinking: "reasoning" }[block?.type];
      if (type === "message_start" || type === "content_block_start" || type === "content_block_stop") close();
      if (kind) stream.open(kind, (open = { kind, id: randomUUID() }).id);
      if (open && (delta?.text || delta?.thinking)) stream.piece(open.kind, open.id, delta.text ?? delta.thinking);
    }
    const content = Array.isArray(m.message?.content) ? m.message.content : [];
    for (const part of content) {
      if (m.type === "assistant" && part.type === "tool_use" && !calls.has(part.id)) {
        calls.add(part.id);
        stream.call(part);
      }
      if (m.type === "user" && part.type === "tool_result" && calls.delete(part.tool_use_id)) {
        const text = [part.content ?? ""].flat().map((p) => p.text ?? (typeof p === "string" ? p : "")).join("\n");
        stream.result(part.tool_use_id, text, part.is_error === true);
      }
    }
    if (m.type !== "result") return false;
    end(m.is_error ? m.errors?.join("\n") || m.result || m.subtype : undefined);
    return true;
  };
  return { read, end };
}

async function chatOf(id) {
  if (chats.has(id)) return chats.get(id);
  const claude = spawn("claude", [...argv, "--session-id", randomUUID(), "--permission-mode", "bypassPermissions"], { stdio: ["pipe", "pipe", "inherit"] });
  await once(claude, "spawn"); // throws if there is no such program
  const chat = { claude, ended: once(claude, "close"), turn: undefined };
  chats.set(id, chat);
  createInterface({ input: claude.stdout }).on("line", (line) => {
    let m;
    try {
      m = Object(JSON.parse(line));
    } catch {
      return; // not a message of the protocol
    }
    if (m.type === "control_request") { // it asks for nothing that this server has
      const response = { subtype: "error", request_id: m.request_id, error: "unsupported" };
      claude.stdin.write(JSON.stringify({ type: "control_response", response }) + "\n");
    }
    if (chat.turn?.read(m)) chat.turn = undefined;
  });
  chat.ended.then(() => {
    chats.delete(id);
    chat.turn?.end("the runtime ended");
  });
  return chat;
}

async function answer(request, response, body, chatID, message, writer) {
  const chat = await chatOf(chatID);
  if (chat.turn) return response.writeHead(409).end("the chat answers another message");
  const stream = writer((m) => {
    response.write(`data: ${typeof m === "string" ? m : JSON.stringify(m)}\n\n`);
    if (m === "[DONE]" || /^RUN_(FINISHED|ERROR)$/.test(m.type)) response.end();
  }, body);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache", ...stream.headers });
  response.flushHeaders();
  chat.turn = turn(stream);
  chat.claude.stdin.write(JSON.stringify({ type: "user", message: { role: "user", content: message } }) + "\n");
  response.on("close", () => { // the client has stopped the turn, if it runs
    if (chat.turn) chat.claude.stdin.write(JSON.stringify({ type: "control_request", request_id: randomUUID(), request: { subtype: "interrupt" } }) + "\n");
  });
}

const server = http.createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  try {
    const body = text ? JSON.parse(text) : {};
    const last = body.messages?.at(-1);
    switch (`${request.method} ${request.url}`) {
      case "POST /api/chat":
        return await answer(request, response, body, body.id, last.parts.map((p) => p.text ?? "").join(""), uiStream);
      case "POST /":
        return await answer(request, response, body, body.threadId, last.content, aguiStream);
    }
    response.writeHead(404).end();
  } catch (e) {
    response.writeHead(500).end(e.message);
  }
});
server.listen(process.env.PORT ?? 3000, "127.0.0.1");
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"])
  process.on(signal, async () => {
    for (const { claude } of chats.values()) {
      claude.stdin.end();
      setTimeout(() => claude.kill("SIGKILL"), 5000).unref();
    }
    await Promise.all([...chats.values()].map((c) => c.ended));
    process.exit(0);
  });
