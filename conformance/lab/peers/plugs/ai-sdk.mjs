// A provider of the AI SDK in a loop: each message is a call of streamText, and
// the parts of its stream are the events. A call is a turn.
import { begin, call, emit, end, ready, Refused, running, serve, text } from "./plug.mjs";

// What the parts of a stream have no word for.
const without = [
  "session_ready", "turn_start", "subagent_id", "thinking.done", "tool_start.tool", "tool_start.command", "tool_start.is_file_read", "tool_start.subagent_spawn",
  "tool_result.changes", "tool_result.status", "tool_result.exit_code", "error.code", "answer.message",
];
const events = ["session_ready", "turn_start", "delta", "thinking", "tool_start", "tool_result", "error", "done"];
const questions = ["permission_request", "permission_resolved"];

// play gives what a stream tells. A part of a kind that is not shown (starts and
// ends, inputs in pieces, sources, raw ones) says nothing that an event holds.
function play(part) {
  if (!part) return; // a provider's own kind, and told
  const body = part.text ?? part.delta;
  switch (part.type) {
    case "text-delta":
      return emit("delta", { text: body, message_id: part.id, block_id: part.id });
    case "reasoning-delta":
      return emit("thinking", { text: body, block_id: part.id });
    case "tool-call":
      return call(part.toolCallId, part.toolName, part.input ?? {});
    case "tool-result":
    case "tool-error": {
      if (part.preliminary) return;
      const is_error = part.type === "tool-error" || !!part.isError;
      return emit("tool_result", { tool_use_id: part.toolCallId, output: text(part.output ?? part.error), is_error, status: is_error ? "error" : "ok" });
    }
  }
}

// provide serves a provider. open gives a model for what was opened; shut ends
// what it holds. asks: it has a way to ask the user.
export function provide({ name, runtime, streamText, open, shut, asks, can = [], lacks = [], session = () => undefined, result = (part) => part, events: more = [] }) {
  let answer, model, abort;
  async function run(prompt) {
    let error, stopped = false;
    try {
      const { fullStream } = streamText({ model: model.next(), prompt, abortSignal: abort.signal, onError() {}, ...model.options });
      for await (const part of fullStream) {
        if (part.type === "error") error = part.error;
        if (part.type === "finish" && part.finishReason === "error") error ??= "the call finished with an error";
        if (part.type === "abort") stopped = true;
        if (part.type === "finish-step") ready(runtime, session(part.providerMetadata ?? {}));
        play(part.type === "tool-result" || part.type === "tool-error" ? result(part) : part);
      }
    } catch (e) {
      if (abort.signal.aborted) stopped = true;
      else error = e;
    }
    end({ error, stopped: stopped || abort.signal.aborted });
  }
  serve({
    name, runtime, can: ["stop", ...(asks ? ["answer"] : []), ...can],
    events: [...events, ...more, ...(asks ? questions : [])], without: [...without, ...lacks],
  }, {
    async open(c) {
      if (c.args?.length) throw new Refused("unsupported", `arguments ${c.args.join(" ")}`);
      model = await open(c);
    },
    send({ message_id, text: prompt }) {
      if (running()) throw new Refused("unsupported", "a call while one runs");
      abort = new AbortController();
      begin(message_id);
      answer = run(prompt);
    },
    stop() {
      if (running()) abort.abort();
    },
    async close() {
      if (running()) abort.abort();
      // A call that does not end by its abort ends with its client.
      await Promise.race([answer, new Promise((go) => setTimeout(go, 2000))]);
      await shut?.();
    },
  });
}
