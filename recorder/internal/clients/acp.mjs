// Drives an agent of the Agent Client Protocol over stdio: codex-acp and
// claude-agent-acp, each of which drives its runtime.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { perform, plan, Seen, tell } from "./play.mjs";

const seen = new Seen();
let agent, gone, session, next, calls, text, ends, cancelled, title;
const tools = new Set();
const asks = [];

function start() {
  [next, calls, ends] = [0, new Map(), 0];
  agent = spawn(process.execPath, [plan.agent], { cwd: plan.work, stdio: ["pipe", "pipe", "inherit"] });
  gone = new Promise((done) => agent.once("exit", done));
  createInterface({ input: agent.stdout }).on("line", (line) => {
    const m = JSON.parse(line);
    if (!m.method) {
      calls.get(m.id)(m);
    } else if (m.id === undefined) {
      tell({ [m.method]: m.params });
      const u = m.params.update ?? {};
      title = u.title ?? title;
      if (u.sessionUpdate === "agent_message_chunk") text += u.content.text;
      if (Object.keys(u.rawInput ?? {}).length) tools.add(u.toolCallId); // the call is whole
    } else if (m.method === "session/request_permission") {
      tell({ [m.method]: m.params });
      asks.push(m);
    } else {
      tell({ [m.method]: m.params });
      send({ id: m.id, error: { code: -32601, message: "Method not found" } });
    }
    seen.changed();
  });
}

const send = (m) => agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\n");

async function call(method, params) {
  const id = next++;
  const answer = new Promise((done) => calls.set(id, done));
  send({ id, method, params });
  const m = await answer;
  tell({ answer: method, ...(m.error ? { error: m.error } : { result: m.result }) });
  return m.result;
}

async function open() {
  start();
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  await call("initialize", { protocolVersion: 1, clientCapabilities, clientInfo: { name: "turnspec", version: "1" } });
  if (session) {
    await call("session/resume", { sessionId: session, cwd: plan.work, mcpServers: [] });
  } else {
    session = (await call("session/new", { cwd: plan.work, mcpServers: [] }))?.sessionId;
  }
  if (plan.mode) await call("session/set_mode", { sessionId: session, modeId: plan.mode });
}

// Agents exit slowly after the end of stdin. SIGTERM makes them exit in order too.
async function close() {
  agent.stdin.end();
  agent.kill("SIGTERM");
  await gone;
}

await open();
await perform({
  async send({ text: prompt }) {
    text = "";
    call("session/prompt", { sessionId: session, prompt: [{ type: "text", text: prompt }] }).then((r) => {
      cancelled = r?.stopReason === "cancelled";
      ends++;
      seen.changed();
    });
  },
  async "wait text"({ text: all }) {
    await seen.until("text " + all, () => text.endsWith(all));
  },
  async "wait tool"({ id }) {
    await seen.until("tool " + id, () => [...tools].some((t) => t.endsWith(id)));
  },
  async "wait file"({ name }) {
    await seen.file(name);
  },
  async "wait ask"() {
    await seen.until("an ask", () => asks.length > 0);
  },
  async "wait end"() {
    await seen.until("the end of the turn", () => ends > 0);
    ends--;
    // The agent requests a title when its first turn has ended.
    if (plan.title && !cancelled) await seen.until("title " + plan.title, () => title === plan.title);
  },
  async answer({ what }) {
    const { id, params } = asks.shift();
    const kind = what === "allow" ? "allow_once" : "reject_once";
    const optionId = params.options.find((o) => o.kind === kind).optionId;
    send({ id, result: { outcome: { outcome: "selected", optionId } } });
  },
  async stop() {
    send({ method: "session/cancel", params: { sessionId: session } });
  },
  async close() {
    await close();
  },
  async resume() {
    await open();
  },
});
await close();
process.exit(0);
