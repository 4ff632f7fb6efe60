// An adapter for Claude Code, as it may lie in a program: it knows nothing of turnspec.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";

const argv = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio".split(" ");

export class ClaudeAdapter extends EventEmitter {
  id = randomUUID();
  #message = 0;
  #requests = new Map();

  start({ cwd, model, permissionMode }) {
    const options = ["--session-id", this.id, "--permission-mode", permissionMode, ...(model ? ["--model", model] : [])];
    this.child = spawn("claude", [...argv, ...options], { cwd, stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#read(JSON.parse(line)));
    this.child.on("close", (code) => this.emit("exit", code));
  }

  say(text) {
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
  }

  #write(line) {
    this.child.stdin.write(JSON.stringify(line) + "\n");
  }

  #read(m) {
    const ofMain = !m.parent_tool_use_id;
    if (m.subtype === "init") this.emit("begin");
    else if (m.type === "stream_event" && ofMain) {
      if (m.event.type === "message_start") this.#message++;
      if (m.event.delta?.text) this.emit("text", m.event.delta.text, `${this.#message}`, `${this.#message}.${m.event.index}`);
    } else if (m.type === "control_request" && m.request.subtype === "can_use_tool") {
      this.#requests.set(m.request_id, m.request);
      this.emit("ask", m.request_id, m.request);
    } else if (m.type === "control_cancel_request") {
      this.#requests.delete(m.request_id);
      this.emit("withdraw", m.request_id);
    } else if (m.type === "result") this.emit("end", m.is_error, m.errors?.join("\n") || m.result || m.subtype);
    else if (ofMain && Array.isArray(m.message?.content)) {
      for (const block of m.message.content) {
        if (block.type === "tool_use") this.emit("call", block);
        if (block.type === "tool_result") this.emit("output", block.tool_use_id, textOf(block.content), !!block.is_error);
      }
    }
  }
}

const textOf = (content) => (typeof content === "string" ? content : content.map((c) => c.text ?? "").join("\n"));
