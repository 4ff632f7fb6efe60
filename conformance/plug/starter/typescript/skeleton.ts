// Connects an adapter to turnspec:
// npx turnspec smoke --runtime {{runtime}} -- node conformance/plug.ts
import { plug, PlugError } from "@turnspec/plug";

plug({
  runtime: "{{runtime}}",
  // The types of events that the adapter emits. A check that needs another is not expressible.
  events: ["session_ready", "turn_start", "delta", "error", "done", "session_end"],
  // The members that these events lack. Remove one when the adapter emits it.
  without: [
    "session_ready.runtime_version",
    "session_ready.model",
    "session_ready.cwd",
    "session_ready.mode",
  ],

  // Start your adapter in dir; it finds the runtime in PATH. Then, for each of its events:
  //   emit("session_ready", { session_id, runtime: "{{runtime}}", provider_session_id });
  //   emit("turn_start", { cause: "user", message_ids: [message_id] });
  //   emit("delta", { text, message_id, block_id });
  //   emit("done", {});
  //   emit("session_end", { reason: "closed" }); // or why the runtime ended by itself
  open({ session_id, dir }, emit) {
    throw new PlugError("start_failure", "conformance/plug.ts starts no adapter yet");
  },

  send({ message_id, text }) {},

  // Each further method declares an ability: answer, stop, steer, set_model …

  close() {},
});
