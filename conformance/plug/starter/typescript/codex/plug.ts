// Connects the client to turnspec: turnspec run --runtime codex --subject 'node plug.ts'
import { plug, PlugError, type Emit, type Events } from "@turnspec/plug";
import { CodexClient, RequestError, type Item, type Params, type Request } from "./adapter.ts";
import { describe, outputOf, unwrap } from "./items.ts";

// The approval policy and the sandbox of each mode.
const modes: Record<string, [approvalPolicy: string, sandbox: string]> = {
  ask: ["untrusted", "workspace-write"],
  "accept-edits": ["on-request", "workspace-write"],
  "read-only": ["on-request", "read-only"],
  "dont-ask": ["never", "read-only"],
  never: ["never", "danger-full-access"],
};

// The requests for a permission, and the tools that they are about.
const approvals: Record<string, string> = {
  "item/commandExecution/requestApproval": "Bash",
  "item/fileChange/requestApproval": "Edit",
  "item/permissions/requestApproval": "request_permissions",
};

const decisionWords = { allow: "accept", deny: "decline", cancel: "cancel" };
type Resolved = Events["permission_resolved"];
type ToolStatus = Events["tool_result"]["status"];

const client = new CodexClient();
let waiting: string[] = []; // ids of messages without a turn
let closed = false;
let turn = ""; // the runtime's id of the turn
let running = false;
let stopped = false;
const blocks = new Set<string>(); // open blocks of text
const tools = new Map<string, { input: unknown; status: ToolStatus }>(); // that run
const asked = new Map<string, Request>(); // requests for permissions without an answer
const ended = new Set<string>(); // turns, tools and blocks
let emit: Emit; // set by open

plug({
  runtime: "codex",
  // The types of events that the adapter emits. A check that needs another is not expressible.
  events: [
    "session_ready",
    "turn_start",
    "delta",
    "tool_start",
    "tool_result",
    "permission_request",
    "permission_resolved",
    "error",
    "done",
    "session_end",
  ],
  // The members that these events lack.
  without: [
    "session_ready.runtime_version",
    "session_ready.model",
    "session_ready.cwd",
    "session_ready.mode",
    "subagent_id",
    "error.code",
    "tool_start.pattern",
    "tool_start.search_path",
    "tool_start.is_file_read",
    "tool_start.subagent_spawn",
    "tool_start.subagent_name",
    "permission_request.options",
    "tool_result.changes",
  ],

  async open({ session_id, dir, model, mode }, write) {
    emit = write;
    if (!modes[mode]) throw new PlugError("unsupported", `the mode ${mode}`);
    const [approvalPolicy, sandbox] = modes[mode];
    client.on("notification", onNotification);
    client.on("request", onRequest);
    client.on("exit", onExit);
    await client.start({ cwd: dir, model, approvalPolicy, sandbox });
    emit("session_ready", { session_id, runtime: "codex", provider_session_id: client.thread });
  },

  async send({ message_id, text }) {
    if (running || waiting.length > 0) {
      throw new PlugError("unsupported", "a message while a turn runs");
    }
    waiting.push(message_id);
    try {
      const input = [{ type: "text", text }];
      await request("turn/start", { input, clientUserMessageId: message_id });
    } catch (err) {
      waiting = waiting.filter((id) => id !== message_id);
      throw err;
    }
  },

  answer({ request_id, decision, scope }) {
    if (scope) throw new PlugError("unsupported", "an answer for longer than this call");
    if (!asked.has(request_id)) throw new PlugError("unknown_id", `no request ${request_id}`);
    if (!decision) return; // a value answers a question, and can does not list question
    stopped ||= decision === "cancel";
    decide(request_id, decision, "user");
  },

  async stop() {
    if (!running) return;
    stopped = true;
    await request("turn/interrupt", { turnId: turn });
  },

  close() {
    closed = true;
    for (const m of asked.values()) respond(m, "cancel");
    client.end();
  },
});

/** Sends a request about the session. */
async function request(method: string, params: object): Promise<void> {
  try {
    await client.request(method, { threadId: client.thread, ...params });
  } catch (err) {
    if (!(err instanceof RequestError)) throw err;
    throw new PlugError(err.refused ? "refused" : "closed", err.message);
  }
}

/** Answers a request of the runtime for a permission. */
function respond({ id, method, params }: Request, decision: Resolved["decision"]): void {
  if (approvals[method] === "request_permissions") {
    const permissions = decision === "allow" ? params.permissions : {};
    client.respond(id, { result: { permissions, scope: "turn" } });
    return;
  }
  client.respond(id, { result: { decision: decisionWords[decision] } });
}

function decide(request_id: string, decision: Resolved["decision"], by: Resolved["by"]): void {
  const m = asked.get(request_id);
  if (!m) return;
  asked.delete(request_id);
  if (by === "user") respond(m, decision);
  const tool = tools.get(m.params.itemId ?? "");
  if (tool && decision !== "allow") tool.status = by === "user" ? "denied" : "interrupted";
  const tool_name = approvals[m.method];
  const allowed = decision === "allow";
  emit("permission_resolved", { request_id, tool_name, allowed, decision, by });
}

/** Resolves what a thread has asked, because its turn has ended. */
function withdraw(thread: string): void {
  for (const [id, m] of asked) {
    if (m.params.threadId === thread) decide(id, "cancel", "runtime");
  }
}

function onRequest(m: Request): void {
  const { threadId, turnId, itemId = "", command, permissions } = m.params;
  const tool_name = approvals[m.method];
  if (!tool_name) {
    client.respond(m.id, { error: { code: -32601, message: "not supported" } });
    return;
  }
  const ofMain = threadId === client.thread;
  if (ended.has(`${threadId} ${turnId}`) || (ofMain && !(running && turnId === turn))) {
    respond(m, "cancel"); // it is late
    return;
  }
  if (command && ofMain) {
    startTool({ type: "commandExecution", id: itemId, command }); // older versions ask first
  }
  const ofTool = tools.get(itemId)?.input ?? { command: unwrap(command ?? "") };
  const tool_input = permissions ? { permissions } : ofTool;
  const request_id = `q${m.id}`;
  asked.set(request_id, m);
  emit("permission_request", { request_id, tool_use_id: itemId, tool_name, tool_input });
}

function startTool(item: Item): void {
  const tool = describe(item);
  if (!tool || tools.has(item.id) || ended.has(item.id)) return;
  const { name, input, shown } = tool;
  tools.set(item.id, { input, status: "ok" });
  emit("tool_start", { tool_use_id: item.id, tool: name, input, ...shown });
}

function endTool(tool_use_id: string, result: Omit<Events["tool_result"], "tool_use_id">): void {
  tools.delete(tool_use_id);
  ended.add(tool_use_id);
  emit("tool_result", { tool_use_id, ...result });
}

/** Ends a text of the model, or a tool. */
function complete(item: Item): void {
  const { id, text, exitCode } = item;
  if ((item.type === "agentMessage" || item.type === "plan") && !ended.has(id)) {
    const hadPieces = blocks.delete(id);
    if (!hadPieces && text) emit("delta", { text, message_id: id, block_id: id });
    ended.add(id);
  }
  startTool(item);
  const tool = tools.get(id);
  if (!tool) return;
  const is_error = item.status === "failed" || item.status === "declined" || !!item.result?.isError;
  let { status } = tool;
  if (status === "ok" && is_error) status = stopped ? "interrupted" : "error";
  const exit = typeof exitCode === "number" ? { exit_code: exitCode } : {};
  endTool(id, { output: outputOf(item), is_error, status, ...exit });
}

/** Ends what is open in the turn. */
function closeTurn(): void {
  withdraw(client.thread);
  for (const id of tools.keys()) {
    endTool(id, { output: "", is_error: true, status: "interrupted" });
  }
  for (const id of [...blocks, `${client.thread} ${turn}`]) ended.add(id); // the rest is late
  blocks.clear();
  running = false;
}

function failTurn(message: string, code: Events["error"]["code"] = "unknown"): void {
  closeTurn();
  emit("error", { message, code });
}

function onNotification(method: string, params: Params): void {
  const { threadId = "", requestId } = params;
  const of = params.turnId ?? params.turn?.id ?? "";
  if (method === "serverRequest/resolved") {
    decide(`q${requestId}`, "cancel", "withdrawn");
  } else if (threadId !== client.thread) {
    if (method !== "turn/completed") return; // of a sub-agent, or of the connection
    ended.add(`${threadId} ${of}`);
    withdraw(threadId);
  } else if (method === "turn/started") {
    if (!ended.has(`${threadId} ${of}`) && !(running && of === turn)) beginTurn(of);
  } else if (running && of === turn) {
    inTurn(method, params); // else it is late
  }
}

function beginTurn(id: string): void {
  if (running) failTurn("the runtime began another turn");
  turn = id;
  running = true;
  stopped = false;
  const cause = waiting.length > 0 ? "user" : "task";
  emit("turn_start", { cause, message_ids: waiting.splice(0, 1), provider_turn_id: id });
}

function inTurn(method: string, { item, itemId = "", delta = "", turn: end }: Params): void {
  if (method === "item/agentMessage/delta" && !ended.has(itemId)) {
    blocks.add(itemId);
    emit("delta", { text: delta, message_id: itemId, block_id: itemId });
  } else if (method === "item/started" && item) {
    startTool(item);
  } else if (method === "item/completed" && item) {
    complete(item);
  } else if (method === "turn/completed" && end?.status === "failed") {
    failTurn(end.error?.message ?? "the turn failed");
  } else if (method === "turn/completed") {
    stopped ||= end?.status === "interrupted";
    closeTurn();
    emit("done", { stopped });
  }
}

function onExit(code: number | null): void {
  if (running || waiting.length > 0) failTurn("the runtime ended", "crash");
  const end: Events["session_end"] = { reason: closed ? "closed" : "the runtime ended" };
  if (code !== null) end.exit_code = code;
  emit("session_end", end);
}
