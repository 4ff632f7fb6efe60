// Drives an agent with the client side of @agentclientprotocol/sdk.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { ClientSideConnection, ndJsonStream } from "@agentclientprotocol/sdk";
import { perform, plan, Seen, tell } from "./play.mjs";

const seen = new Seen();
const tools = new Set();
const asks = [];
let agent, connection, gone, session, text, ends, commands;

// What the agent asks of its client, and what it reports.
const client = {
  async sessionUpdate(params) {
    tell({ "session/update": params });
    const u = params.update;
    if (u.sessionUpdate === "agent_message_chunk") text += u.content.text;
    if (u.sessionUpdate === "available_commands_update") commands = true;
    if (Object.keys(u.rawInput ?? {}).length) tools.add(u.toolCallId); // the call is whole
    seen.changed();
  },
  requestPermission(params) {
    tell({ "session/request_permission": params });
    return new Promise((answer) => {
      asks.push({ params, answer });
      seen.changed();
    });
  },
  async extNotification(method, params) {
    tell({ [method]: params });
  },
};

async function open() {
  [text, ends, commands] = ["", 0, false];
  agent = spawn(plan.binary, [], { cwd: plan.work, stdio: ["pipe", "pipe", "inherit"] });
  gone = new Promise((done) => agent.once("exit", done));
  connection = new ClientSideConnection(() => client, ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)));
  const clientCapabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false, elicitation: { form: {} } };
  tell({ initialize: await connection.initialize({ protocolVersion: 1, clientCapabilities }) });
  if (session) {
    tell({ load: await connection.loadSession({ sessionId: session, cwd: plan.work, mcpServers: [] }) });
  } else {
    const created = await connection.newSession({ cwd: plan.work, mcpServers: [] });
    session = created.sessionId;
    tell({ new: created });
  }
  await seen.until("the list of commands", () => commands); // a timer sends it
  if (plan.mode) tell({ mode: await connection.setSessionMode({ sessionId: session, modeId: plan.mode }) });
}

async function close() {
  agent.stdin.end();
  await gone;
}

await open();
await perform({
  async send({ text: prompt }) {
    text = "";
    connection.prompt({ sessionId: session, prompt: [{ type: "text", text: prompt }] }).then((result) => {
      tell({ result });
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
  },
  async answer({ what }) {
    const { params, answer } = asks.shift();
    const kind = what === "allow" ? "allow_once" : "reject_once";
    answer({ outcome: { outcome: "selected", optionId: params.options.find((o) => o.kind === kind).optionId } });
  },
  async stop() {
    await connection.cancel({ sessionId: session });
  },
  close,
  async resume() {
    await open();
  },
});
await close();
process.exit(0);
