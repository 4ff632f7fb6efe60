// A small server that puts Claude Code behind HTTP and server-sent events: text and stop.
const { spawn } = require("node:child_process");
const { randomUUID } = require("node:crypto");
const { once } = require("node:events");
const http = require("node:http");
const { createInterface } = require("node:readline");

const argv = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages".split(" ");
const sessions = new Map();

async function start({ session_id, params }) {
  const id = randomUUID(), listeners = new Set(), early = [];
  const options = ["--session-id", id, "--permission-mode", params.permissionMode ?? "default"];
  const env = { ...process.env, CLAUDE_CODE_SDK_READS_SESSION_STATE: "1" }; // it reports when it becomes idle
  const claude = spawn("claude", [...argv, ...options], { cwd: params.workingDir, env, stdio: ["pipe", "pipe", "inherit"] });
  const session = { claude, listeners, early, running: 0, stopped: false };
  const blocks = new Set(); // that have begun and not ended
  let begun = false; // a turn, on the runtime
  await once(claude, "spawn"); // throws if there is no such program
  const emit = (type, data) => {
    const frame = `event: ${type}\ndata: ${JSON.stringify({ type, data, ts: new Date().toISOString() })}\n\n`;
    if (listeners.size === 0) early.push(frame);
    for (const l of listeners) l.write(frame);
  };
  createInterface({ input: claude.stdout }).on("line", (line) => {
    const m = parse(line);
    if (m.type === "stream_event" && !m.parent_tool_use_id) {
      const { type, index, delta } = m.event;
      if (type === "content_block_start") blocks.add(index);
      else if (type === "content_block_stop") blocks.delete(index);
      else if (delta?.text && blocks.has(index)) emit("delta", { text: delta.text });
    }
    if (m.subtype === "init") begun = true;
    const lost = m.subtype === "session_state_changed" && m.state === "idle" && begun;
    if ((m.type !== "result" && !lost) || session.running === 0) return;
    begun = false;
    session.running--;
    if (lost) return emit("error", { message: "the runtime became idle and sent no result" });
    session.stopped ||= `${m.terminal_reason}`.includes("aborted");
    if (m.is_error && !session.stopped) emit("error", { message: m.errors?.join("\n") || m.result || m.subtype });
    else emit("done", { stopped: session.stopped });
  });
  session.ended = once(claude, "close").then(() => {
    if (session.running > 0) emit("error", { message: "the runtime ended" });
    session.running = 0;
  });
  session.write = (line) => claude.stdin.write(JSON.stringify(line) + "\n");
  sessions.set(session_id, session);
  emit("session_ready", { provider_session_id: id });
  return { id: session_id, provider_session_id: id };
}

// parse reads a line of the runtime. What is no JSON object is ignored.
function parse(line) {
  try {
    return Object(JSON.parse(line));
  } catch {
    return {};
  }
}

const server = http.createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const body = text ? JSON.parse(text) : {};
  const [, , id, what] = request.url.split("?")[0].split("/");
  const session = sessions.get(id);
  const answer = (code, value = {}) => response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (id && !session && what !== "resume") return answer(404, { error: { code: "closed", message: "there is no such session" } });
  switch (`${request.method} ${what ?? ""}`) {
    case "GET ":
      return answer(200, { runtime: "claude", can: [], events: ["session_ready", "delta", "done", "error"], without: ["subagent_id", "done.reason", "error.code"] });
    case "POST ":
      return start(body).then((s) => answer(201, s), (e) => answer(500, { error: { code: "start_failure", message: e.message } }));
    case "GET events":
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": connected\n\n" + session.early.splice(0).join(""));
      session.listeners.add(response);
      return request.on("close", () => session.listeners.delete(response));
    case "POST message":
      session.stopped = false;
      session.running++;
      session.write({ type: "user", message: { role: "user", content: body.message } });
      return answer(202);
    case "POST stop":
      session.stopped = true;
      session.write({ type: "control_request", request_id: randomUUID(), request: { subtype: "interrupt" } });
      return answer(202);
    case "DELETE ":
      session.claude.stdin.end();
      setTimeout(() => session.claude.kill(), 3000).unref();
      setTimeout(() => session.claude.kill("SIGKILL"), 6000).unref();
      await session.ended;
      for (const l of session.listeners) l.end();
      sessions.delete(id);
      return answer(200);
  }
  answer(501, { error: { code: "unsupported", message: `${request.method} ${request.url}` } });
});
server.listen(process.env.PORT ?? 3000, "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
