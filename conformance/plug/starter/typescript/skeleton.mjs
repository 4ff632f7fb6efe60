// Connects an adapter to turnspec: npx turnspec smoke --runtime {{runtime}} -- node conformance/plug.mjs
import { plug, PlugError } from "@turnspec/plug";

plug({
  runtime: "{{runtime}}",
  // The types of events that the adapter emits. A check that needs another is not expressible.
  events: ["session_ready", "turn_start", "delta", "error", "done", "session_end"],
  // Start your adapter in options.dir; it finds the runtime in PATH. Then, for each of its events:
  //   emit("session_ready", { session_id: options.session_id, runtime: "{{runtime}}", provider_session_id: … });
  //   emit("turn_start", { cause: "user", message_ids: [ … ] });
  //   emit("delta", { text, message_id, block_id });
  //   emit("done", {});
  open(options, emit) {
    throw new PlugError("start_failure", "conformance/plug.mjs starts no adapter yet");
  },
  send({ message_id, text }) {},
  // Each further method declares an ability: answer, stop, steer, set_model …
  close() {},
});
