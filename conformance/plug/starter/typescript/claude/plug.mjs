// Connects the adapter to turnspec: turnspec run --runtime claude --subject 'node plug.mjs'
import { plug } from "@turnspec/plug";
import { ClaudeAdapter } from "./adapter.mjs";

const modes = { ask: "default", "accept-edits": "acceptEdits", plan: "plan", "dont-ask": "dontAsk", never: "bypassPermissions" };
const adapter = new ClaudeAdapter();
const waiting = []; // ids of messages whose turn has not begun
const tools = new Set(); // ids of tools that run
const questions = new Map(); // names of tools that wait for a permission, by the request's id
let running = false, stopped = false, emit;

plug({
  runtime: "claude",
  events: ["session_ready", "turn_start", "delta", "tool_start", "tool_result", "permission_request", "permission_resolved", "error", "done", "session_end"],
  without: ["subagent_id", "tool_start.file_path", "tool_start.pattern", "tool_start.search_path", "tool_start.background", "tool_start.is_file_read", "tool_start.subagent_spawn", "tool_start.subagent_name", "tool_result.changes"],
  async open(options, write) {
    emit = write;
    adapter.on("begin", () => ((running = true), (stopped = false), emit("turn_start", { cause: waiting.length ? "user" : "task", message_ids: waiting.splice(0, 1) })));
    adapter.on("text", (text, message_id, block_id) => emit("delta", { text, message_id, block_id }));
    adapter.on("call", (b) => (tools.add(b.id), emit("tool_start", { tool_use_id: b.id, tool: b.name, input: b.input, command: b.input.command ?? "" })));
    adapter.on("output", (id, output, is_error) => (tools.delete(id), emit("tool_result", { tool_use_id: id, output, is_error, status: is_error ? (stopped ? "interrupted" : "error") : "ok" })));
    adapter.on("ask", (request_id, r) => {
      questions.set(request_id, r.tool_name);
      emit("permission_request", { request_id, tool_use_id: r.tool_use_id, tool_name: r.tool_name, tool_input: r.input });
    });
    adapter.on("withdraw", (request_id) => resolve(request_id, "cancel", "withdrawn"));
    const endTurn = () => {
      for (const id of questions.keys()) resolve(id, "cancel", "runtime");
      for (const tool_use_id of tools) emit("tool_result", { tool_use_id, output: "", is_error: true, status: "interrupted" });
      tools.clear();
    };
    adapter.on("end", (failed, message, code) => {
      endTurn();
      running = false;
      code === "crash" || (failed && !stopped) ? emit("error", { code, message }) : emit("done", { stopped });
    });
    adapter.on("exit", (exit_code) => emit("session_end", { reason: "the runtime ended", ...(exit_code === null ? {} : { exit_code }) }));
    await adapter.start({ cwd: options.dir, model: options.model, permissionMode: modes[options.mode] });
    emit("session_ready", { session_id: options.session_id, runtime: "claude", provider_session_id: adapter.id });
  },
  send: (m) => (waiting.push(m.message_id), adapter.say(m.text)),
  answer({ request_id, decision, input, message }) {
    adapter.decide(request_id, decision, input, message);
    stopped ||= decision === "cancel";
    resolve(request_id, decision, "user");
  },
  stop: () => ((stopped = running), adapter.interrupt()),
  close: () => adapter.end(),
});

function resolve(request_id, decision, by) {
  if (!questions.has(request_id)) return;
  emit("permission_resolved", { request_id, tool_name: questions.get(request_id), allowed: decision === "allow", decision, by });
  questions.delete(request_id);
}
