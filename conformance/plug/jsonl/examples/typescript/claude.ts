// A small adapter for Claude Code, as a subject of turnspec: text, tools, permissions and stop.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
type Json = Record<string, any>;
const argv = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio".split(" ");
const events = "session_ready turn_start delta tool_start tool_result permission_request permission_resolved error done session_end".split(" ");
const without = ["subagent_id", "error.code", "tool_start.pattern", "tool_start.search_path", "tool_start.is_file_read", "tool_result.changes"];
const modes: Json = { ask: "default", "accept-edits": "acceptEdits", plan: "plan", "dont-ask": "dontAsk", never: "bypassPermissions" };
let runtime: ChildProcessWithoutNullStreams, turn = 0, message = 0, running = false, stopped = false;
const waiting: string[] = [], asked = new Map<string, Json>();
const write = (line: Json, to: NodeJS.WritableStream = process.stdout) => to.write(JSON.stringify(line) + "\n");
const emit = (type: string, data: Json) => write({ event: { type, data, ...(running && type !== "session_end" ? { turn } : {}) } });
function translate(m: Json): void {
  if (m.subtype === "init") {
    [turn, running, stopped] = [turn + 1, true, false];
    emit("turn_start", { cause: waiting.length ? "user" : "task", message_ids: waiting.splice(0, 1) });
  } else if (m.type === "stream_event" && !m.parent_tool_use_id) {
    if (m.event.type === "message_start") message++;
    if (m.event.delta?.text) emit("delta", { text: m.event.delta.text, message_id: `${message}`, block_id: `${message}.${m.event.index}` });
  } else if ((m.type === "assistant" || m.type === "user") && !m.parent_tool_use_id && Array.isArray(m.message.content)) {
    for (const b of m.message.content as Json[]) {
      const { command = "", file_path = "", run_in_background: background = false } = b.input ?? {};
      if (b.type === "tool_use") emit("tool_start", { tool_use_id: b.id, tool: b.name, input: b.input, command, file_path, background });
      if (b.type !== "tool_result") continue;
      const output = typeof b.content === "string" ? b.content : b.content.map((c: Json) => c.text ?? "").join("\n");
      emit("tool_result", { tool_use_id: b.tool_use_id, output, is_error: !!b.is_error, status: b.is_error ? "error" : "ok" });
    }
  } else if (m.type === "control_request" && m.request.subtype === "can_use_tool") {
    asked.set(m.request_id, m.request);
    emit("permission_request", { request_id: m.request_id, tool_use_id: m.request.tool_use_id, tool_name: m.request.tool_name, tool_input: m.request.input });
  } else if (m.type === "result") {
    stopped ||= `${m.terminal_reason}`.includes("aborted");
    m.is_error && !stopped ? emit("error", { message: m.result || m.errors?.join("; ") || m.subtype, code: "unknown" }) : emit("done", { stopped });
    running = false;
  }
}

const acts: Record<string, (c: Json) => unknown> = {
  open(c) {
    const id = randomUUID(), model = c.model ? ["--model", c.model] : [];
    runtime = spawn("claude", [...argv, ...model, "--session-id", id, "--permission-mode", modes[c.mode]], { cwd: c.dir });
    createInterface({ input: runtime.stdout }).on("line", (line) => translate(JSON.parse(line)));
    runtime.on("close", (code) => {
      if (running || waiting.length) emit("error", { message: "the runtime ended", code: "crash" });
      emit("session_end", { reason: "the runtime ended", ...(code === null ? {} : { exit_code: code }) });
    });
    emit("session_ready", { session_id: c.session_id, runtime: "claude", provider_session_id: id });
  },
  send: (c) => (waiting.push(c.message_id), write({ type: "user", message: { role: "user", content: c.text } }, runtime.stdin)),
  answer(c) {
    if (c.scope) throw new Error("an answer for longer than this call");
    const r = asked.get(c.request_id)!, allowed = c.decision === "allow";
    emit("permission_resolved", { request_id: c.request_id, tool_name: r.tool_name, allowed, decision: c.decision, by: "user" });
    const response = allowed
      ? { behavior: "allow", updatedInput: c.input ?? r.input }
      : { behavior: "deny", message: "The user said no.", interrupt: c.decision === "cancel" };
    write({ type: "control_response", response: { subtype: "success", request_id: c.request_id, response } }, runtime.stdin);
  },
  stop: () => (stopped = running, write({ type: "control_request", request_id: randomUUID(), request: { subtype: "interrupt" } }, runtime.stdin)),
  close: () => runtime.stdin.end(),
};

write({ hello: { protocol: 1, runtime: "claude", can: ["answer", "stop"], events, without } });
createInterface({ input: process.stdin }).on("line", (line) => {
  const c = JSON.parse(line);
  let error: Json | undefined;
  try {
    acts[c.do](c);
  } catch (e) {
    error = { code: "unsupported", message: String(e) };
  }
  write({ reply: { id: c.id, error } });
});
