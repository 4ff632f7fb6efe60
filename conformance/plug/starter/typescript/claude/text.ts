// The least that can be graded: text. turnspec run --runtime claude --subject 'node text.ts'
import { plug } from "@turnspec/plug";
import { ClaudeAdapter } from "./adapter.ts";

const adapter = new ClaudeAdapter();
const ids: string[] = []; // of messages whose turn has not begun
let reason = "the runtime ended";

plug({
  runtime: "claude",
  events: ["session_ready", "turn_start", "delta", "error", "done", "session_end"],
  without: [
    "session_ready.runtime_version", "session_ready.model",
    "session_ready.cwd", "session_ready.mode",
  ],
  async open({ session_id, dir, model }, emit) {
    adapter.on("begin", () => {
      emit("turn_start", { cause: "user", message_ids: ids.splice(0, 1) });
    });
    adapter.on("text", (text, message_id, block_id) => {
      emit("delta", { text, message_id, block_id });
    });
    adapter.on("end", (failed, message, code) => {
      if (failed) emit("error", { code, message });
      else emit("done", {});
    });
    adapter.on("exit", (code) => {
      emit("session_end", { reason, exit_code: code ?? undefined });
    });
    await adapter.start({ cwd: dir, model, permissionMode: "default" });
    emit("session_ready", { session_id, runtime: "claude", provider_session_id: adapter.id });
  },
  send({ message_id, text }) {
    ids.push(message_id);
    adapter.say(text);
  },
  close() {
    reason = "closed";
    adapter.end();
  },
});
