// The least that can be graded: text. turnspec run --runtime claude --subject 'node text.mjs'
import { plug } from "@turnspec/plug";
import { ClaudeAdapter } from "./adapter.mjs";

const adapter = new ClaudeAdapter(), ids = [];
plug({
  runtime: "claude",
  events: ["session_ready", "turn_start", "delta", "error", "done", "session_end"],
  async open({ session_id, dir, model }, emit) {
    adapter.on("begin", () => emit("turn_start", { cause: "user", message_ids: ids.splice(0, 1) }));
    adapter.on("text", (text, message_id, block_id) => emit("delta", { text, message_id, block_id }));
    adapter.on("end", (failed, message, code) => (failed ? emit("error", { code, message }) : emit("done", {})));
    adapter.on("exit", (exit_code) => emit("session_end", { reason: "the runtime ended", ...(exit_code === null ? {} : { exit_code }) }));
    await adapter.start({ cwd: dir, model, permissionMode: "default" });
    emit("session_ready", { session_id, runtime: "claude", provider_session_id: adapter.id });
  },
  send: ({ message_id, text }) => (ids.push(message_id), adapter.say(text)),
  close: () => adapter.end(),
});
