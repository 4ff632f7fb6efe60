// What the plugs share: the lines between turnspec and a program, as
// conformance/plug/jsonl/PROTOCOL.md has them. It holds no wire of a runtime.
import { createInterface } from "node:readline";

const write = (line) => process.stdout.write(JSON.stringify(line) + "\n");
process.on("unhandledRejection", (e) => console.error("unhandled:", e)); // a client may let one go; the session lives on

// Refused is a command that was not done, with a code of the protocol.
export class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

// The turn that runs, or null; emit tells its events.
let turn = null, turns = 0;
export const running = () => turn !== null;
const open = new Set(); // calls that have no result yet
export function emit(type, data) {
  if (type === "tool_start") open.add(data.tool_use_id);
  if (type === "tool_result") open.delete(data.tool_use_id);
  write({ event: { type, data, ...(turn === null ? {} : { turn }) } });
}

// ready tells the runtime's id of the session, once it is known.
let session_id, provider;
export function ready(runtime, provider_session_id) {
  if (!provider_session_id || provider === provider_session_id) return;
  provider = provider_session_id;
  write({ event: { type: "session_ready", data: { session_id, runtime, provider_session_id } } });
}

// begin and end are the bounds of a turn. What a client says afterwards of a turn
// that is over carries no turn, and is judged as that. What runs when its caller
// stops a turn, or when the client throws, ends with it; a turn that went well is
// to have closed its calls itself.
export function begin(...message_ids) {
  turn = ++turns;
  message_ids = message_ids.filter(Boolean);
  emit("turn_start", { cause: message_ids.length ? "user" : "task", message_ids });
}
export const number = () => turn;

// call tells a tool call; what user interfaces show of it in one line is in its input.
export function call(tool_use_id, tool, input) {
  const line = {};
  if (typeof input?.command === "string") line.command = input.command;
  if (typeof input?.file_path === "string") line.file_path = input.file_path;
  emit("tool_start", { tool_use_id, tool, input, ...line });
}

export function end({ error, stopped = false } = {}) {
  if (error || stopped) {
    for (const take of asked.values()) take({ decision: "cancel", by: "withdrawn" });
    for (const id of open) emit("tool_result", { tool_use_id: id, output: "", is_error: false, status: "interrupted" });
  }
  open.clear();
  if (error && !stopped) emit("error", { code: "unknown", message: String(error?.message ?? error) || "it has no message" });
  else emit("done", { stopped });
  turn = null;
}

// text makes one string of whatever a client gives as a tool's output.
export function text(output) {
  if (output === undefined || output === null) return "";
  if (typeof output === "string") return output;
  if (Array.isArray(output) && output.every((c) => typeof c?.type === "string" || typeof c?.text === "string")) {
    return output.flatMap((c) => c.text ?? []).join("\n"); // what has no text, such as an image, is left out
  }
  return JSON.stringify(output);
}

// ask tells a question and waits for its answer: {decision, message}. It is taken
// back when the signal says so, or the turn ends by a stop or an error.
const asked = new Map();
let asks = 0;
export function ask({ tool_name, tool_input, ...more }, signal) {
  const request_id = `p${++asks}`;
  emit("permission_request", { request_id, tool_name, tool_input, ...more });
  return new Promise((answer) => {
    const take = (a) => {
      if (!asked.delete(request_id)) return;
      emit("permission_resolved", { request_id, tool_name, allowed: a.decision === "allow", decision: a.decision, by: a.by ?? "user" });
      answer(a);
    };
    asked.set(request_id, take);
    signal?.addEventListener("abort", () => take({ decision: "cancel", by: "withdrawn" }), { once: true });
  });
}

// serve says hello and does what is commanded. does has a function for each verb.
export function serve(hello, does) {
  const acts = {
    answer(c) {
      if (c.scope) throw new Refused("unsupported", `an answer for longer: ${c.scope}`);
      const take = asked.get(c.request_id);
      if (!take) throw new Refused("unknown_id", `no question ${c.request_id} is open`);
      take({ ...c, by: "user" });
    },
    ...does,
  };
  write({ hello: { protocol: 1, ...hello } });
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const c = JSON.parse(line);
    session_id ??= c.session_id;
    if (c.after) turns = c.after.turn;
    try {
      await acts[c.do](c);
      write({ reply: { id: c.id } });
    } catch (e) {
      if (!(e instanceof Refused)) console.error(e);
      write({ reply: { id: c.id, error: { code: e.code ?? "refused", message: String(e.message) } } });
    }
  });
  lines.on("close", () => process.exit(0));
}
