// Connects the adapter to turnspec: turnspec run --runtime claude --subject 'node plug.ts'
import { plug, type Emit, type Events } from "@turnspec/plug";
import { ClaudeAdapter, type Decision } from "./adapter.ts";

const modes: Record<string, string> = {
  ask: "default",
  "accept-edits": "acceptEdits",
  plan: "plan",
  "dont-ask": "dontAsk",
  never: "bypassPermissions",
};

const adapter = new ClaudeAdapter();
const waiting: string[] = []; // ids of messages whose turn has not begun
const tools = new Set<string>(); // ids of tools that run
const questions = new Map<string, string>(); // tools that wait for a permission, by request
let running = false;
let stopped = false;
let closed = false;
let emit: Emit; // set by open

plug({
  runtime: "claude",
  // The types of events that the adapter emits. A check that needs another is not expressible.
  events: [
    "session_ready",
    "turn_start",
    "delta",
    "tool_start",
    "tool_result",
    "permission_request",
    "permission_resolved",
    "error",
    "done",
    "session_end",
  ],
  // The members that these events lack.
  without: [
    "session_ready.runtime_version",
    "session_ready.model",
    "session_ready.cwd",
    "session_ready.mode",
    "done.reason",
    "subagent_id",
    "tool_start.file_path",
    "tool_start.pattern",
    "tool_start.search_path",
    "tool_start.background",
    "tool_start.is_file_read",
    "tool_start.subagent_spawn",
    "tool_start.subagent_name",
    "tool_start.message_id",
    "permission_request.options",
    "tool_result.changes",
  ],

  async open({ session_id, dir, model, mode }, write) {
    emit = write;
    listen();
    await adapter.start({ cwd: dir, model, permissionMode: modes[mode] });
    emit("session_ready", { session_id, runtime: "claude", provider_session_id: adapter.id });
  },

  send({ message_id, text }) {
    waiting.push(message_id);
    adapter.say(text);
  },

  answer({ request_id, decision, input, message }) {
    if (!decision) return; // a value answers a question, and can does not list question
    adapter.decide(request_id, decision, input, message);
    stopped ||= decision === "cancel";
    resolve(request_id, decision, "user");
  },

  stop() {
    stopped = running;
    adapter.interrupt();
  },

  close() {
    closed = true;
    adapter.end();
  },
});

/** Emits what the adapter reports. */
function listen(): void {
  adapter.on("begin", () => {
    running = true;
    stopped = false;
    const cause = waiting.length > 0 ? "user" : "task";
    emit("turn_start", { cause, message_ids: waiting.splice(0, 1) });
  });
  adapter.on("text", (text, message_id, block_id) => {
    emit("delta", { text, message_id, block_id });
  });
  adapter.on("call", ({ id, name, input }) => {
    tools.add(id);
    const command = typeof input.command === "string" ? input.command : "";
    emit("tool_start", { tool_use_id: id, tool: name, input, command });
  });
  adapter.on("output", (tool_use_id, output, is_error) => {
    tools.delete(tool_use_id);
    const failed = stopped ? "interrupted" : "error";
    emit("tool_result", { tool_use_id, output, is_error, status: is_error ? failed : "ok" });
  });
  adapter.on("ask", (request_id, { tool_use_id, tool_name, input }) => {
    questions.set(request_id, tool_name);
    emit("permission_request", { request_id, tool_use_id, tool_name, tool_input: input });
  });
  adapter.on("withdraw", (request_id) => resolve(request_id, "cancel", "withdrawn"));
  adapter.on("end", (failed, message, code) => {
    closeTurn();
    running = false;
    if (code === "crash" || (failed && !stopped)) emit("error", { code, message });
    else emit("done", { stopped });
  });
  adapter.on("exit", (code) => {
    const end: Events["session_end"] = { reason: closed ? "closed" : "the runtime ended" };
    if (code !== null) end.exit_code = code;
    emit("session_end", end);
  });
}

/** Ends what is open in the turn: questions and tools. */
function closeTurn(): void {
  for (const id of questions.keys()) resolve(id, "cancel", "runtime");
  for (const tool_use_id of tools) {
    emit("tool_result", { tool_use_id, output: "", is_error: true, status: "interrupted" });
  }
  tools.clear();
}

function resolve(
  request_id: string,
  decision: Decision,
  by: Events["permission_resolved"]["by"],
): void {
  const tool_name = questions.get(request_id);
  if (tool_name === undefined) return;
  questions.delete(request_id);
  const allowed = decision === "allow";
  emit("permission_resolved", { request_id, tool_name, allowed, decision, by });
}
