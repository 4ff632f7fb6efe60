// A client of codex app-server, as it may lie in a program: it knows nothing of turnspec.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";

const replyLimit = 10_000; // ms that a request waits for the reply of the runtime

/** A part of a turn: a text of the model, or the call of a tool. */
export interface Item {
  id: string;
  type: string;
  text?: string;
  status?: string;
  command?: string;
  changes?: { path: string }[];
  server?: string;
  tool?: string;
  arguments?: unknown;
  query?: string;
  action?: { url?: string } | null;
  path?: string;
  prompt?: string | null;
  kind?: string;
  aggregatedOutput?: string | null;
  exitCode?: number | null;
  result?: { content?: { text?: string }[]; isError?: boolean } | null;
  error?: { message: string } | null;
}

/** The parameters of what the runtime sends, as far as a plug reads them. */
export interface Params {
  threadId?: string;
  turnId?: string;
  turn?: { id: string; status: string; error?: { message: string } | null };
  item?: Item;
  itemId?: string;
  delta?: string;
  command?: string | null;
  permissions?: unknown;
  requestId?: number;
}

/** A request of the runtime. */
export interface Request {
  id: number;
  method: string;
  params: Params;
}

/** A line of the runtime. */
interface Line {
  id?: number;
  method?: string;
  params?: Params;
  result?: unknown;
  error?: { message: string };
}

interface ClientEvents {
  notification: [method: string, params: Params];
  request: [request: Request];
  exit: [code: number | null];
}

export interface Options {
  cwd: string;
  model?: string;
  approvalPolicy: string;
  sandbox: string;
}

/** Why a request failed: the runtime refused it, or it has ended. */
export class RequestError extends Error {
  refused: boolean;
  constructor(message: string, refused: boolean) {
    super(message);
    this.refused = refused;
  }
}

export class CodexClient extends EventEmitter<ClientEvents> {
  thread = ""; // the runtime's id of the session
  #child!: ChildProcessWithoutNullStreams; // set by start
  #replies = new Map<number, (reply?: Line) => void>(); // requests without a reply
  #lastID = 0;
  #closed = false;
  #log = "";

  /** Starts the runtime and a session. */
  async start({ cwd, ...options }: Options): Promise<void> {
    const child = spawn("codex", ["app-server"], { cwd });
    this.#child = child;
    child.stdin.on("error", () => {}); // the runtime has ended
    child.stderr.on("data", (text) => (this.#log = (this.#log + text).slice(-4000)));
    const exited = this.#watch();
    const clientInfo = { name: "example", title: "Example", version: "1" };
    const capabilities = { experimentalApi: true };
    try {
      const handshake = this.request("initialize", { clientInfo, capabilities });
      await Promise.race([handshake, exited.then((why) => Promise.reject(new Error(why)))]);
      this.#write({ method: "initialized" });
      const started = await this.request<{ thread: { id: string } }>("thread/start", {
        ...options,
        cwd,
      });
      this.thread = started.thread.id;
    } catch (err) {
      this.end();
      throw new Error(`${err instanceof Error ? err.message : err}; ${await exited}`);
    }
  }

  /** Reads what the runtime writes. The promise resolves with how the runtime ended. */
  #watch(): Promise<string> {
    const lines = createInterface({ input: this.#child.stdout });
    lines.on("line", (line) => {
      try {
        this.#read(JSON.parse(line));
      } catch (err) {
        console.error(err); // a line that is no message
      }
    });
    lines.on("close", () => {
      if (!this.#closed) this.end(); // the runtime may live on without its stdout
    });
    return new Promise((resolve) => {
      this.#child.on("error", (err) => resolve(String(err)));
      this.#child.on("close", (code) => {
        for (const settle of this.#replies.values()) settle();
        resolve(`codex ended with exit code ${code}: ${this.#log}`);
        if (this.thread) this.emit("exit", code);
      });
    });
  }

  #read(m: Line): void {
    if (m.method !== undefined && m.id !== undefined) {
      this.emit("request", { id: m.id, method: m.method, params: m.params ?? {} });
    } else if (m.method !== undefined) {
      this.emit("notification", m.method, m.params ?? {});
    } else if (m.id !== undefined) {
      this.#replies.get(m.id)?.(m);
    }
  }

  /** Sends a request and returns the result. */
  request<Result>(method: string, params: object): Promise<Result> {
    const id = ++this.#lastID;
    return new Promise((resolve, reject) => {
      const settle = (reply?: Line) => {
        clearTimeout(timer);
        this.#replies.delete(id);
        if (reply?.error) reject(new RequestError(reply.error.message, true));
        else if (reply) resolve(reply.result as Result);
        else reject(new RequestError("the runtime has ended", false));
      };
      const timer = setTimeout(() => {
        this.#replies.delete(id);
        reject(new RequestError(`no reply to ${method}`, true));
      }, replyLimit);
      this.#replies.set(id, settle);
      this.#write({ id, method, params });
    });
  }

  /** Answers a request of the runtime. */
  respond(id: number, answer: { result: unknown } | { error: object }): void {
    this.#write({ id, ...answer });
  }

  /** Ends the runtime. */
  end(): void {
    this.#closed = true;
    this.#child.stdin.end();
    setTimeout(() => this.#child.kill(), 3000).unref();
    setTimeout(() => this.#child.kill("SIGKILL"), 6000).unref();
  }

  #write(line: object): void {
    this.#child.stdin.write(JSON.stringify(line) + "\n");
  }
}
