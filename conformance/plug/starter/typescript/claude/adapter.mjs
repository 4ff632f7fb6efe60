// An adapter for Claude Code, as it may lie in a program: it knows nothing of turnspec.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";

const argv = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio".split(" ");

export class ClaudeAdapter extends EventEmitter {
  id = randomUUID();
  #message = 0;
  #waiting = 0; // messages without a turn
  #running = false;
  #ready; // what to call when the runtime has replied; undefined: it has
  #log = "";
  #blocks = new Set(); // open blocks of text
  #tools = new Set(); // tools that run
  #seen = new Set(); // all tools
  #requests = new Map();

  /** Starts the runtime, and returns when it has replied. */
  start({ cwd, model, permissionMode }) {
    const options = ["--session-id", this.id, "--permission-mode", permissionMode, ...(model ? ["--model", model] : [])];
    this.child = spawn("claude", [...argv, ...options], { cwd, env: { ...process.env, CLAUDE_CODE_SDK_READS_SESSION_STATE: "1" }, stdio: "pipe" });
    this.child.stdin.on("error", () => {}); // the runtime has ended
    this.child.stderr.on("data", (text) => (this.#log = (this.#log + text).slice(-4000)));
    const lines = createInterface({ input: this.child.stdout });
    lines.on("close", () => this.end()); // a runtime that has closed its stdout may still run
    lines.on("line", (line) => {
      try {
        this.#read(JSON.parse(line));
      } catch (err) {
        console.error(err); // a line that is no message
      }
    });
    this.#write({ type: "control_request", request_id: randomUUID(), request: { subtype: "initialize" } });
    return new Promise((resolve, reject) => {
      this.#ready = resolve;
      this.child.on("error", reject);
      this.child.on("close", (code) => {
        if (this.#ready) return reject(new Error(`claude ended with exit code ${code}: ${this.#log}`));
        if (this.#running || this.#waiting) this.#endTurn(true, "the runtime ended", "crash");
        this.emit("exit", code);
      });
    });
  }

  say(text) {
    this.#waiting++;
    this.#write({ type: "user", message: { role: "user", content: text } });
  }

  decide(id, decision, input, message = "The user said no.") {
    const asked = this.#requests.get(id).input;
    this.#requests.delete(id);
    const denied = { behavior: "deny", message, ...(decision === "cancel" ? { interrupt: true } : {}) };
    const response = decision === "allow" ? { behavior: "allow", updatedInput: input ?? asked } : denied;
    this.#write({ type: "control_response", response: { subtype: "success", request_id: id, response } });
  }

  interrupt() {
    this.#write({ type: "control_request", request_id: randomUUID(), request: { subtype: "interrupt" } });
  }

  end() {
    for (const id of this.#requests.keys()) this.decide(id, "deny"); // nobody will answer any more
    this.child.stdin.end();
    setTimeout(() => this.child.kill(), 3000).unref();
    setTimeout(() => this.child.kill("SIGKILL"), 6000).unref();
  }

  #endTurn(failed, why, code = "unknown") {
    this.#running = false;
    this.#blocks.clear();
    this.#tools.clear();
    this.#requests.clear();
    this.emit("end", failed, why, code);
  }

  #write(line) {
    this.child.stdin.write(JSON.stringify(line) + "\n");
  }

  #read(m) {
    const ofMain = !m.parent_tool_use_id;
    if (m.subtype === "init") {
      if (this.#running) this.#endTurn(true, "the runtime began another turn");
      this.#waiting = Math.max(0, this.#waiting - 1);
      this.#running = true;
      this.emit("begin");
    } else if (m.type === "control_response") {
      this.#ready?.();
      this.#ready = undefined;
    } else if (m.type === "stream_event" && ofMain) {
      const { type, index, delta } = m.event;
      if (type === "message_start") this.#message++;
      if (type === "content_block_start") this.#blocks.add(index);
      if (type === "content_block_stop") this.#blocks.delete(index);
      if (delta?.text && this.#blocks.has(index)) this.emit("text", delta.text, `${this.#message}`, `${this.#message}.${index}`);
    } else if (m.type === "control_request" && m.request.subtype === "can_use_tool") {
      this.#requests.set(m.request_id, m.request);
      this.emit("ask", m.request_id, m.request);
    } else if (m.type === "control_request") {
      this.#write({ type: "control_response", response: { subtype: "error", request_id: m.request_id, error: "not supported" } });
    } else if (m.type === "control_cancel_request") {
      this.#requests.delete(m.request_id);
      this.emit("withdraw", m.request_id);
    } else if (m.type === "result") {
      if (this.#running) this.#endTurn(m.is_error, m.errors?.join("\n") || m.result || m.subtype);
    } else if (m.subtype === "session_state_changed") {
      if (this.#running && m.state === "idle") this.#endTurn(true, "the runtime became idle and sent no result", "protocol");
    } else if (ofMain && Array.isArray(m.message?.content)) {
      for (const block of m.message.content) {
        if (block.type === "tool_use" && this.#running && !this.#seen.has(block.id)) {
          this.#seen.add(block.id);
          this.#tools.add(block.id);
          this.emit("call", block);
        }
        if (block.type === "tool_result" && this.#tools.delete(block.tool_use_id)) this.emit("output", block.tool_use_id, textOf(block.content), !!block.is_error);
      }
    }
  }
}

const textOf = (content) => (typeof content === "string" ? content : content.map((c) => c.text ?? "").join("\n"));
