// A small adapter for Claude Code, as a subject of turnspec: text, tools, permissions and stop.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
type Json = Record<string, any>;
const argv = "-p --verbose --input-format stream-json --output-format stream-json --include-partial-messages --permission-prompt-tool stdio".split(" ");
const events = "session_ready turn_start delta tool_start tool_result permission_request permission_resolved error done session_end".split(" ");
const without = "session_ready.runtime_version session_ready.model session_ready.cwd session_ready.mode done.reason subagent_id error.code tool_start.pattern tool_start.search_path tool_start.is_file_read tool_start.subagent_spawn tool_start.subagent_name tool_start.message_id tool_result.changes permission_request.options".split(" ");
const env = { ...process.env, CLAUDE_CODE_SDK_READS_SESSION_STATE: "1" }; // it reports when it becomes idle
const modes: Json = { ask: "default", "accept-edits": "acceptEdits", "dont-ask": "dontAsk", never: "bypassPermissions" };
let runtime: ChildProcessWithoutNullStreams, turn = 0, message = 0, running = false, stopped = false, closed = false, log = "", ready: (() => void) | undefined;
const waiting: string[] = []; // messages without a turn
const tools = new Set<string>(), seen = new Set<string>(); // tools that run; all tools, and what was asked about
const blocks = new Set<number>(), asked = new Map<string, Json>(); // open blocks of text; questions without an answer
const write = (line: Json, to: NodeJS.WritableStream = process.stdout) => to.write(JSON.stringify(line) + "\n");
const emit = (type: string, data: Json) => write({ event: { type, data, ...(running && type !== "session_end" ? { turn } : {}) } });
const respond = (request_id: string, response: Json) => write({ type: "control_response", response: { request_id, ...response } }, runtime.stdin);
const deny = (id: string, message: string) => respond(id, { subtype: "success", response: { behavior: "deny", message } });

function resolve(request_id: string, decision: string, by: string): void {
  emit("permission_resolved", { request_id, tool_name: asked.get(request_id)!.tool_name, allowed: decision === "allow", decision, by });
  asked.delete(request_id);
}

function endTurn(type: string, data: Json): void {
  for (const id of asked.keys()) resolve(id, "cancel", "runtime");
  for (const tool_use_id of tools) emit("tool_result", { tool_use_id, output: "", is_error: true, status: "interrupted" });
  tools.clear();
  blocks.clear();
  emit(type, data);
  running = false;
}

function translate(m: Json): void {
  const request = m.request, ofMain = !m.parent_tool_use_id;
  if (m.subtype === "init") {
    if (running) endTurn("error", { message: "the runtime began another turn", code: "unknown" });
    [turn, running, stopped] = [turn + 1, true, false];
    emit("turn_start", { cause: waiting.length ? "user" : "task", message_ids: waiting.splice(0, 1) });
  } else if (m.type === "control_response") {
    ready?.();
  } else if (m.type === "stream_event" && ofMain) {
    const { type, index, delta } = m.event;
    if (type === "message_start") message++;
    if (type === "content_block_start") blocks.add(index);
    if (type === "content_block_stop") blocks.delete(index);
    if (delta?.text && blocks.has(index)) emit("delta", { text: delta.text, message_id: `${message}`, block_id: `${message}.${index}` });
  } else if ((m.type === "assistant" || m.type === "user") && ofMain && Array.isArray(m.message.content)) {
    for (const b of m.message.content as Json[]) {
      const { command = "", file_path = "", run_in_background: background = false } = b.input ?? {};
      if (b.type === "tool_use" && running && !seen.has(b.id)) {
        tools.add(b.id), seen.add(b.id);
        emit("tool_start", { tool_use_id: b.id, tool: b.name, input: b.input, command, file_path, background });
      }
      if (b.type !== "tool_result" || !tools.delete(b.tool_use_id)) continue;
      const output = typeof b.content === "string" ? b.content : b.content.map((c: Json) => c.text ?? "").join("\n");
      emit("tool_result", { tool_use_id: b.tool_use_id, output, is_error: !!b.is_error, status: b.is_error ? (stopped ? "interrupted" : "error") : "ok" });
    }
  } else if (m.type === "control_request" && request.subtype !== "can_use_tool") {
    respond(m.request_id, { subtype: "error", error: "not supported" });
  } else if (m.type === "control_request") {
    const { tool_use_id, tool_name, input, agent_id } = request;
    const beside = agent_id && !seen.has(`asked ${tool_use_id}`); // a sub-agent may ask after the turn
    if (!(running || beside) || ["AskUserQuestion", "ExitPlanMode"].includes(tool_name)) return void deny(m.request_id, "The user cannot be asked.");
    asked.set(m.request_id, request), seen.add(`asked ${tool_use_id}`);
    emit("permission_request", { request_id: m.request_id, tool_use_id, tool_name, tool_input: input });
  } else if (m.type === "control_cancel_request" && asked.has(m.request_id)) {
    resolve(m.request_id, "cancel", "withdrawn");
  } else if (m.subtype === "session_state_changed" && m.state === "idle" && running) {
    endTurn("error", { message: "the runtime became idle and sent no result", code: "protocol" });
  } else if (m.type === "result" && running) {
    stopped ||= `${m.terminal_reason}`.includes("aborted");
    m.is_error && !stopped ? endTurn("error", { message: m.result || m.errors?.join("; ") || m.subtype, code: "unknown" }) : endTurn("done", { stopped });
  }
}

const acts: Record<string, (c: Json) => unknown> = {
  open(c) {
    if (!modes[c.mode]) throw { code: "unsupported", message: `the mode ${c.mode}` };
    const id = randomUUID(), model = c.model ? ["--model", c.model] : [];
    runtime = spawn("claude", [...argv, ...model, "--session-id", id, "--permission-mode", modes[c.mode]], { cwd: c.dir, env });
    runtime.stdin.on("error", () => {}); // the runtime has ended
    runtime.stderr.on("data", (text) => (log = (log + text).slice(-4000)));
    createInterface({ input: runtime.stdout }).on("line", (line) => {
      try {
        translate(JSON.parse(line));
      } catch (e) {
        console.error(e); // a line that is no message
      }
    });
    write({ type: "control_request", request_id: randomUUID(), request: { subtype: "initialize" } }, runtime.stdin);
    return new Promise<void>((done, fail) => {
      runtime.on("error", (e) => fail({ code: "start_failure", message: String(e) }));
      ready = () => {
        ready = undefined;
        emit("session_ready", { session_id: c.session_id, runtime: "claude", provider_session_id: id });
        done();
      };
      runtime.on("close", (code) => {
        if (ready) return fail({ code: "start_failure", message: `claude ended with exit code ${code}: ${log}` });
        if (running || waiting.length) endTurn("error", { message: "the runtime ended", code: "crash" });
        emit("session_end", { reason: closed ? "closed" : "the runtime ended", ...(code === null ? {} : { exit_code: code }) });
      });
    });
  },
  send: (c) => (waiting.push(c.message_id), write({ type: "user", message: { role: "user", content: c.text } }, runtime.stdin)),
  answer(c) {
    if (c.scope) throw { code: "unsupported", message: "an answer for longer than this call" };
    const r = asked.get(c.request_id);
    if (!r) throw { code: "unknown_id", message: "no such question" };
    const denied = { behavior: "deny", message: c.message ?? "The user said no.", interrupt: c.decision === "cancel" };
    stopped ||= c.decision === "cancel";
    respond(c.request_id, { subtype: "success", response: c.decision === "allow" ? { behavior: "allow", updatedInput: c.input ?? r.input } : denied });
    resolve(c.request_id, c.decision, "user");
  },
  stop: () => ((stopped = running), write({ type: "control_request", request_id: randomUUID(), request: { subtype: "interrupt" } }, runtime.stdin)),
  close() {
    closed = true;
    for (const id of asked.keys()) deny(id, "The session was closed.");
    runtime.stdin.end();
    setTimeout(() => runtime.kill(), 3000).unref();
    setTimeout(() => runtime.kill("SIGKILL"), 6000).unref();
  },
};

write({ hello: { protocol: 1, runtime: "claude", can: ["answer", "stop"], events, without } });
createInterface({ input: process.stdin }).on("line", async (line) => {
  const c = JSON.parse(line);
  let error: Json | undefined;
  try {
    await acts[c.do](c);
  } catch (e: any) {
    error = { code: e.code ?? "refused", message: e.message };
  }
  write({ reply: { id: c.id, error } });
});
