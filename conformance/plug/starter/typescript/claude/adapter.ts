// An adapter for Claude Code, as it may lie in a program: it knows nothing of turnspec.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";

const argv = [
  "-p",
  "--verbose",
  "--include-partial-messages",
  ...["--input-format", "stream-json"],
  ...["--output-format", "stream-json"],
  ...["--permission-prompt-tool", "stdio"],
];

export type Decision = "allow" | "deny" | "cancel";

/** What the model or a tool wrote, in a message of the runtime. */
export type Block =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }
  | { type: "tool_result"; tool_use_id: string; content: Content; is_error?: boolean };

type Content = string | { text?: string }[];

/** A call for which the runtime needs the user's permission. */
export interface Request {
  subtype: string;
  tool_name: string;
  tool_use_id: string;
  input: Record<string, unknown>;
}

/** A line of the runtime, as far as the adapter reads it. */
interface Line {
  type: string;
  subtype?: string;
  parent_tool_use_id?: string | null;
  request_id?: string;
  request?: Request;
  event?: { type: string; index: number; delta?: { text?: string } };
  message?: { content: string | Block[] };
  state?: string;
  is_error?: boolean;
  errors?: string[];
  result?: string;
}

/** What the adapter emits, with the arguments. */
interface AdapterEvents {
  begin: [];
  text: [text: string, messageId: string, blockId: string];
  call: [block: Extract<Block, { type: "tool_use" }>];
  output: [toolUseId: string, output: string, isError: boolean];
  ask: [id: string, request: Request];
  withdraw: [id: string];
  end: [failed: boolean, why: string, code: "unknown" | "crash" | "protocol"];
  exit: [code: number | null];
}

export interface Options {
  cwd: string;
  model?: string;
  permissionMode: string;
}

export class ClaudeAdapter extends EventEmitter<AdapterEvents> {
  readonly id = randomUUID();
  #child!: ChildProcessWithoutNullStreams; // set by start
  #message = 0;
  #waiting = 0; // messages without a turn
  #running = false;
  #ready: (() => void) | undefined; // what to call when the runtime replies; undefined: it has
  #log = "";
  #blocks = new Set<number>(); // open blocks of text
  #tools = new Set<string>(); // tools that run
  #seen = new Set<string>(); // all tools
  #requests = new Map<string, Request>();

  /** Starts the runtime, and returns when it has replied. */
  start({ cwd, model, permissionMode }: Options): Promise<void> {
    const options = ["--session-id", this.id, "--permission-mode", permissionMode];
    if (model) options.push("--model", model);
    const env = { ...process.env, CLAUDE_CODE_SDK_READS_SESSION_STATE: "1" };
    const child = spawn("claude", [...argv, ...options], { cwd, env, stdio: "pipe" });
    this.#child = child;
    child.stdin.on("error", () => {}); // the runtime has ended
    child.stderr.on("data", (text) => (this.#log = (this.#log + text).slice(-4000)));
    const lines = createInterface({ input: child.stdout });
    lines.on("close", () => this.end()); // a runtime that has closed its stdout may still run
    lines.on("line", (line) => {
      try {
        this.#read(JSON.parse(line));
      } catch (err) {
        console.error(err); // a line that is no message
      }
    });
    this.#request("initialize");
    return new Promise((resolve, reject) => {
      this.#ready = resolve;
      child.on("error", reject);
      child.on("close", (code) => {
        if (this.#ready) {
          reject(new Error(`claude ended with exit code ${code}: ${this.#log}`));
          return;
        }
        if (this.#running || this.#waiting) this.#endTurn(true, "the runtime ended", "crash");
        this.emit("exit", code);
      });
    });
  }

  say(text: string): void {
    this.#waiting++;
    this.#write({ type: "user", message: { role: "user", content: text } });
  }

  decide(id: string, decision: Decision, input?: unknown, message = "The user said no."): void {
    const request = this.#requests.get(id);
    if (!request) throw new Error(`there is no request ${id}`);
    this.#requests.delete(id);
    const response =
      decision === "allow"
        ? { behavior: "allow", updatedInput: input ?? request.input }
        : { behavior: "deny", message, ...(decision === "cancel" && { interrupt: true }) };
    this.#respond(id, { subtype: "success", response });
  }

  interrupt(): void {
    this.#request("interrupt");
  }

  end(): void {
    for (const id of this.#requests.keys()) this.decide(id, "deny"); // nobody will answer any more
    this.#child.stdin.end();
    setTimeout(() => this.#child.kill(), 3000).unref();
    setTimeout(() => this.#child.kill("SIGKILL"), 6000).unref();
  }

  #endTurn(failed: boolean, why: string, code: AdapterEvents["end"][2] = "unknown"): void {
    this.#running = false;
    this.#blocks.clear();
    this.#tools.clear();
    this.#requests.clear();
    this.emit("end", failed, why, code);
  }

  #write(line: object): void {
    this.#child.stdin.write(JSON.stringify(line) + "\n");
  }

  #request(subtype: string): void {
    this.#write({ type: "control_request", request_id: randomUUID(), request: { subtype } });
  }

  #respond(request_id: string, response: object): void {
    this.#write({ type: "control_response", response: { request_id, ...response } });
  }

  #read(m: Line): void {
    if (m.type === "control_response") {
      this.#ready?.();
      this.#ready = undefined;
    } else if (m.type === "control_request" && m.request_id && m.request) {
      this.#readRequest(m.request_id, m.request);
    } else if (m.type === "control_cancel_request" && m.request_id) {
      this.#requests.delete(m.request_id);
      this.emit("withdraw", m.request_id);
    } else if (m.subtype === "init") {
      if (this.#running) this.#endTurn(true, "the runtime began another turn");
      this.#waiting = Math.max(0, this.#waiting - 1);
      this.#running = true;
      this.emit("begin");
    } else if (m.type === "result") {
      const why = m.errors?.join("\n") || m.result || m.subtype || "";
      if (this.#running) this.#endTurn(m.is_error ?? false, why);
    } else if (m.subtype === "session_state_changed" && m.state === "idle" && this.#running) {
      this.#endTurn(true, "the runtime became idle and sent no result", "protocol");
    } else if (!m.parent_tool_use_id) {
      this.#readContent(m);
    }
  }

  #readRequest(id: string, request: Request): void {
    if (request.subtype !== "can_use_tool") {
      this.#respond(id, { subtype: "error", error: "not supported" });
      return;
    }
    if (!this.#running) { // the user is not asked about a turn that has ended
      const response = { behavior: "deny", message: "The turn has ended." };
      this.#respond(id, { subtype: "success", response });
      return;
    }
    this.#requests.set(id, request);
    this.emit("ask", id, request);
  }

  /** Reads what the model and the tools of the main agent write. */
  #readContent(m: Line): void {
    if (m.event) {
      const { type, index, delta } = m.event;
      if (type === "message_start") this.#message++;
      if (type === "content_block_start") this.#blocks.add(index);
      if (type === "content_block_stop") this.#blocks.delete(index);
      if (delta?.text && this.#blocks.has(index)) {
        this.emit("text", delta.text, `${this.#message}`, `${this.#message}.${index}`);
      }
    }
    const content = m.message?.content;
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type === "tool_use" && this.#running && !this.#seen.has(block.id)) {
        this.#seen.add(block.id);
        this.#tools.add(block.id);
        this.emit("call", block);
      }
      if (block.type === "tool_result" && this.#tools.delete(block.tool_use_id)) {
        this.emit("output", block.tool_use_id, textOf(block.content), block.is_error ?? false);
      }
    }
  }
}

function textOf(content: Content): string {
  return typeof content === "string" ? content : content.map((c) => c.text ?? "").join("\n");
}
