// Speaks the protocol of subjects over stdio: conformance/plug/jsonl/PROTOCOL.md.
import { createInterface } from "node:readline";

/** An error whose code the reply contains. */
export class PlugError extends Error {
  constructor(code, message = code) {
    super(message);
    this.code = code;
  }
}

// Abilities that are commands; the others are declared in `can`.
const commands = "answer stop steer set_model set_mode stop_all stop_task withdraw revert rewind compact archive rename list".split(" ");
const outsideTurns = new Set(["session_ready", "session_end"]);

export function plug(adapter) {
  let turn = 0, running = false, opened = false;
  const write = (line) => process.stdout.write(JSON.stringify(line) + "\n");

  function emit(type, data, members = {}) {
    if (type === "turn_start" && !members.subagent_id) {
      turn++;
      running = true;
    }
    const inTurn = running && !outsideTurns.has(type) ? { turn } : {};
    if ((type === "done" || type === "error") && !members.subagent_id) running = false;
    write({ event: { type, data, ...inTurn, ...members } });
  }

  // Calls of the client's tools and hooks that have no result yet.
  const calls = new Map();
  let lastCall = 0;
  function call(request, signal) {
    const id = `c${++lastCall}`;
    signal?.addEventListener("abort", () => calls.has(id) && write({ cancel: { id } }));
    const result = new Promise((resolve) => calls.set(id, resolve));
    write({ call: { id, ...request } });
    return result;
  }

  async function handle(command) {
    const { id, do: name, ...params } = command;
    if (name === "result") {
      const { call: of, ...result } = params;
      calls.get(of)?.(result);
      calls.delete(of);
      return;
    }
    const method = adapter[name];
    let result;
    try {
      if (!method) throw new PlugError("unsupported", `${name} is not supported`);
      if (name === "open") {
        opened = true;
        turn = params.after?.turn ?? 0;
        await adapter.open(params, emit, call);
      } else {
        result = await method.call(adapter, params);
      }
      write({ reply: { id, ...(name === "list" && { listed: result }) } });
    } catch (err) {
      if (!(err instanceof PlugError)) console.error(err);
      const code = err instanceof PlugError ? err.code : name === "open" ? "start_failure" : "refused";
      write({ reply: { id, error: { code, message: String(err?.message ?? err) } } });
    }
    if (name === "close") opened = false;
  }

  const can = [...commands.filter((c) => adapter[c]), ...(adapter.can ?? [])];
  const { runtime, events, without } = adapter;
  write({ hello: { protocol: 1, runtime, can, ...(events && { events }), ...(without && { without }) } });
  const input = createInterface({ input: process.stdin, crlfDelay: Infinity });
  input.on("line", (line) => void handle(JSON.parse(line)));
  // Turnspec is gone or has finished: end the runtime too.
  input.on("close", async () => {
    try {
      if (opened) await adapter.close({});
    } catch (err) {
      console.error(err);
    }
    // The program exits when the runtime has ended; what else is left does not hold it up.
    setTimeout(() => process.exit(), 5000).unref();
  });
}
