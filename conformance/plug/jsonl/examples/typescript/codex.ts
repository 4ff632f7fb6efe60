// A small adapter for Codex (codex app-server), as a subject of turnspec: text, tools, permissions and stop.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";
type Json = Record<string, any>;
const events = "session_ready turn_start delta tool_start tool_result permission_request permission_resolved error done session_end".split(" ");
const without = "session_ready.runtime_version session_ready.model session_ready.cwd session_ready.mode subagent_id error.code tool_start.pattern tool_start.search_path tool_start.is_file_read tool_start.subagent_spawn tool_start.subagent_name tool_result.changes permission_request.options".split(" ");
const modes: Json = {
  ask: ["untrusted", "workspace-write"], "accept-edits": ["on-request", "workspace-write"], "read-only": ["on-request", "read-only"],
  "dont-ask": ["never", "read-only"], never: ["never", "danger-full-access"],
};
const approvals: Json = {
  "item/commandExecution/requestApproval": "Bash", "item/fileChange/requestApproval": "Edit", "item/permissions/requestApproval": "request_permissions",
};
const patience = 10_000; // ms that a call waits for the reply of the runtime
let runtime: ChildProcessWithoutNullStreams, thread = "", turn = 0, current = "", running = false, stopped = false, closed = false, log = "", calls = 0;
let waiting: string[] = []; // messages without a turn
const blocks = new Set<string>(), ended = new Set<string>(); // blocks of text; turns, tools and blocks that ended
const tools = new Map<string, Json>(), asked = new Map<string, Json>(), replies = new Map<number, (m?: Json) => void>(); // tools that run; questions without an answer; calls without a reply
const write = (line: Json, to: NodeJS.WritableStream = process.stdout) => to.write(JSON.stringify(line) + "\n");
const emit = (type: string, data: Json) => write({ event: { type, data, ...(running && type !== "session_end" ? { turn } : {}) } });

function request(method: string, params: Json): Promise<Json> {
  const id = ++calls;
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail({ code: "timeout", message: `no reply to ${method}` }), patience);
    replies.set(id, (m) => {
      clearTimeout(timer);
      m?.error ? fail({ code: "refused", message: m.error.message }) : m ? done(m.result) : fail({ code: "closed", message: "the runtime has ended" });
    });
    write({ id, method, params }, runtime.stdin);
  });
}

function answer({ id, method, params }: Json, decision: string): void {
  const rights = { permissions: decision === "allow" ? params.permissions : {}, scope: "turn" };
  const words: Json = { allow: "accept", deny: "decline", cancel: "cancel" };
  write({ id, result: approvals[method] === "request_permissions" ? rights : { decision: words[decision] } }, runtime.stdin);
}

function decide(request_id: string, decision: string, by: string): void {
  const m = asked.get(request_id)!, tool = tools.get(m.params.itemId);
  asked.delete(request_id);
  if (by === "user") answer(m, decision);
  if (decision !== "allow" && tool) tool.status = by === "user" ? "denied" : "interrupted";
  emit("permission_resolved", { request_id, tool_name: approvals[m.method], allowed: decision === "allow", decision, by });
}

// withdraw closes what a thread has asked, because its turn has ended.
function withdraw(of: string): void {
  for (const [id, m] of asked) if (m.params.threadId === of) decide(id, "cancel", "runtime");
}

function endTurn(type: string, data: Json): void {
  withdraw(thread);
  for (const id of tools.keys()) endTool(id, { output: "", is_error: true, status: "interrupted" });
  for (const id of [...blocks, `${thread} ${current}`]) ended.add(id); // what comes later is late
  blocks.clear();
  emit(type, data);
  running = false;
}

// unwrap returns the command that the runtime wraps in a shell: /bin/bash -lc 'ls'
function unwrap(command: string): string {
  const inner = /^\S*sh -l?c ([^]*)$/.exec(command)?.[1];
  return inner === undefined ? command : inner.replace(/'([^']*)'|"((?:\\[^]|[^"\\])*)"|\\([^])/g, (_, single, double, one) => single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? one);
}

// describe returns the tool of an item, its input, and what is shown of it, if it is a tool.
function describe(item: Json): [string, Json, Json?] | undefined {
  switch (item.type) {
    case "commandExecution":
      return ["Bash", { command: unwrap(item.command) }, { command: unwrap(item.command) }];
    case "fileChange":
      return ["Edit", { changes: item.changes }, item.changes.length ? { file_path: item.changes[0].path } : {}];
    case "mcpToolCall":
      return [`mcp__${item.server}__${item.tool}`, item.arguments];
    case "webSearch": { // what it does is known when it has ended
      const { query, action } = item;
      if (action?.url) return ["WebFetch", { url: action.url }, { url: action.url }];
      return query ? ["WebSearch", { query }, { query }] : undefined;
    }
    case "imageView":
      return ["Read", { file_path: item.path }, { file_path: item.path }];
    case "collabAgentToolCall":
      return [item.tool, { prompt: item.prompt ?? "" }];
    case "subAgentActivity":
      if (item.kind === "started") return ["spawn_agent", {}];
      if (item.kind === "interacted") return ["followup_task", {}];
  }
}

function startTool(item: Json): void {
  const tool = describe(item);
  if (!tool || tools.has(item.id) || ended.has(item.id)) return;
  tools.set(item.id, { input: tool[1] });
  emit("tool_start", { tool_use_id: item.id, tool: tool[0], input: tool[1], ...tool[2] });
}

function endTool(tool_use_id: string, data: Json): void {
  tools.delete(tool_use_id);
  ended.add(tool_use_id);
  emit("tool_result", { tool_use_id, ...data });
}

function complete(item: Json): void {
  const { id, result, error, exitCode } = item;
  if ((item.type === "agentMessage" || item.type === "plan") && !ended.has(id)) {
    if (!blocks.delete(id) && item.text) emit("delta", { text: item.text, message_id: id, block_id: id });
    ended.add(id);
  }
  startTool(item);
  const tool = tools.get(id);
  if (!tool) return;
  const is_error = item.status === "failed" || item.status === "declined" || !!result?.isError;
  const output = item.aggregatedOutput || error?.message || result?.content?.map((c: Json) => c.text ?? "").join("\n") || item.query || "";
  endTool(id, { output, is_error, status: tool.status ?? (is_error ? (stopped ? "interrupted" : "error") : "ok"), ...(exitCode == null ? {} : { exit_code: exitCode }) });
}

function ask(m: Json): void {
  const p = m.params, request_id = `q${m.id}`, tool_name = approvals[m.method];
  if (!tool_name) return void write({ id: m.id, error: { code: -32601, message: "not supported" } }, runtime.stdin);
  const late = ended.has(`${p.threadId} ${p.turnId}`) || (p.threadId === thread && !(running && p.turnId === current));
  if (late) return answer(m, "cancel");
  if (p.command && p.threadId === thread) startTool({ type: "commandExecution", id: p.itemId, command: p.command }); // older versions ask first
  asked.set(request_id, m);
  const tool_input = p.permissions ? { permissions: p.permissions } : (tools.get(p.itemId)?.input ?? { command: unwrap(p.command ?? "") });
  emit("permission_request", { request_id, tool_use_id: p.itemId, tool_name, tool_input });
}

function translate(m: Json): void {
  if (m.method === undefined) {
    replies.get(m.id)?.(m);
    return void replies.delete(m.id);
  }
  if (m.id !== undefined) return ask(m);
  const p = m.params ?? {}, of = p.turnId ?? p.turn?.id;
  if (m.method === "turn/completed" && p.threadId !== thread) {
    ended.add(`${p.threadId} ${of}`);
    withdraw(p.threadId);
  } else if (m.method === "serverRequest/resolved") {
    if (asked.has(`q${p.requestId}`)) decide(`q${p.requestId}`, "cancel", "withdrawn");
  } else if (p.threadId !== thread) {
    // of a sub-agent, or of the connection
  } else if (m.method === "turn/started" && !ended.has(`${thread} ${of}`) && !(running && of === current)) {
    if (running) endTurn("error", { message: "the runtime began another turn", code: "unknown" });
    [turn, current, running, stopped] = [turn + 1, of, true, false];
    emit("turn_start", { cause: waiting.length ? "user" : "task", message_ids: waiting.splice(0, 1), provider_turn_id: of });
  } else if (!running || of !== current) {
    // it is late
  } else if (m.method === "item/agentMessage/delta" && !ended.has(p.itemId)) {
    blocks.add(p.itemId);
    emit("delta", { text: p.delta, message_id: p.itemId, block_id: p.itemId });
  } else if (m.method === "item/started") {
    startTool(p.item);
  } else if (m.method === "item/completed") {
    complete(p.item);
  } else if (m.method === "turn/completed") {
    stopped ||= p.turn.status === "interrupted";
    p.turn.status === "failed" ? endTurn("error", { message: p.turn.error.message, code: "unknown" }) : endTurn("done", { stopped });
  }
}

function endRuntime(): void {
  runtime.stdin.end();
  setTimeout(() => runtime.kill(), 3000).unref();
  setTimeout(() => runtime.kill("SIGKILL"), 6000).unref();
}

const acts: Record<string, (c: Json) => unknown> = {
  async open(c) {
    if (!modes[c.mode]) throw { code: "unsupported", message: `the mode ${c.mode}` };
    runtime = spawn("codex", ["app-server"], { cwd: c.dir });
    runtime.stdin.on("error", () => {}); // the runtime has ended
    runtime.stderr.on("data", (text) => (log = (log + text).slice(-4000)));
    createInterface({ input: runtime.stdout })
      .on("line", (line) => {
        try {
          translate(JSON.parse(line));
        } catch (e) {
          console.error(e); // a line that is no message
        }
      })
      .on("close", () => closed || endRuntime()); // it may live on without its stdout
    const exit = new Promise<string>((done) => {
      runtime.on("error", (e) => done(String(e)));
      runtime.on("close", (code) => {
        for (const reply of replies.values()) reply();
        done(`codex ended with exit code ${code}: ${log}`);
        if (!thread) return;
        if (running || waiting.length) endTurn("error", { message: "the runtime ended", code: "crash" });
        emit("session_end", { reason: closed ? "closed" : "the runtime ended", ...(code === null ? {} : { exit_code: code }) });
      });
    });
    try {
      const handshake = request("initialize", { clientInfo: { name: "example", title: "Example", version: "1" }, capabilities: { experimentalApi: true } });
      await Promise.race([handshake, exit.then((message) => Promise.reject({ message }))]);
      write({ method: "initialized" }, runtime.stdin);
      const [approvalPolicy, sandbox] = modes[c.mode];
      thread = (await request("thread/start", { approvalPolicy, sandbox, cwd: c.dir, model: c.model })).thread.id;
      emit("session_ready", { session_id: c.session_id, runtime: "codex", provider_session_id: thread });
    } catch (e: any) {
      endRuntime();
      throw { code: "start_failure", message: `${e.message}; ${await exit}` };
    }
  },
  async send(c) {
    if (running || waiting.length) throw { code: "unsupported", message: "a message while a turn runs" };
    waiting.push(c.message_id);
    try {
      await request("turn/start", { threadId: thread, input: [{ type: "text", text: c.text }], clientUserMessageId: c.message_id });
    } catch (e) {
      waiting = waiting.filter((id) => id !== c.message_id);
      throw e;
    }
  },
  answer(c) {
    if (c.scope) throw { code: "unsupported", message: "an answer for longer than this call" };
    if (!asked.has(c.request_id)) throw { code: "unknown_id", message: "no such question" };
    stopped ||= c.decision === "cancel";
    decide(c.request_id, c.decision, "user");
  },
  async stop() {
    if (!running) return;
    stopped = true;
    await request("turn/interrupt", { threadId: thread, turnId: current });
  },
  close() {
    closed = true;
    for (const m of asked.values()) answer(m, "cancel");
    endRuntime();
  },
};

write({ hello: { protocol: 1, runtime: "codex", can: ["answer", "stop"], events, without } });
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
