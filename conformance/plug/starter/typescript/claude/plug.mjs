// Connects the adapter to turnspec: turnspec run --runtime claude --subject 'node plug.mjs'
import { plug } from "@turnspec/plug";
import { ClaudeAdapter } from "./adapter.mjs";

const modes = { ask: "default", "accept-edits": "acceptEdits", plan: "plan", "dont-ask": "dontAsk", never: "bypassPermissions" };
const adapter = new ClaudeAdapter();
const waiting = []; // ids of messages whose turn has not begun
let running = false, stopped = false, emit;

plug({
  runtime: "claude",
  events: ["session_ready", "turn_start", "delta", "tool_start", "tool_result", "permission_request", "permission_resolved", "error", "done", "session_end"],
  without: ["subagent_id"],
  open(options, write) {
    emit = write;
    adapter.on("begin", () => ((running = true), (stopped = false), emit("turn_start", { cause: waiting.length ? "user" : "task", message_ids: waiting.splice(0, 1) })));
    adapter.on("text", (text, message_id, block_id) => emit("delta", { text, message_id, block_id }));
    adapter.on("call", (b) => emit("tool_start", { tool_use_id: b.id, tool: b.name, input: b.input, command: b.input.command ?? "" }));
    adapter.on("output", (tool_use_id, output, is_error) => emit("tool_result", { tool_use_id, output, is_error, status: is_error ? "error" : "ok" }));
    adapter.on("ask", (request_id, r) => emit("permission_request", { request_id, tool_use_id: r.tool_use_id, tool_name: r.tool_name, tool_input: r.input }));
    adapter.on("end", (failed, why) => ((running = false), failed && !stopped ? emit("error", { code: "unknown", message: why }) : emit("done", { stopped })));
    adapter.on("exit", (exit_code) => {
      if (running || waiting.length) emit("error", { code: "crash", message: "the runtime ended" });
      emit("session_end", { reason: "the runtime ended", ...(exit_code === null ? {} : { exit_code }) });
    });
    adapter.start({ cwd: options.dir, model: options.model, permissionMode: modes[options.mode] });
    emit("session_ready", { session_id: options.session_id, runtime: "claude", provider_session_id: adapter.id });
  },
  send: (m) => (waiting.push(m.message_id), adapter.say(m.text)),
  answer({ request_id, decision, input }) {
    const tool_name = adapter.decide(request_id, decision === "allow", input);
    emit("permission_resolved", { request_id, tool_name, allowed: decision === "allow", decision, by: "user" });
  },
  stop: () => ((stopped = running), adapter.interrupt()),
  close: () => adapter.end(),
});
