// Drives OpenCode with @opencode-ai/sdk, which starts the server and talks HTTP to it.
import { dirname } from "node:path";
import { createOpencodeClient, createOpencodeServer } from "@opencode-ai/sdk/v2";
import { perform, plan, Seen, tell } from "./play.mjs";

process.env.PATH = dirname(plan.binary) + ":" + process.env.PATH; // the server is found there

const seen = new Seen();
const asks = [];
let server, client, listening, session, connected, idle, text, tools, replies;

const rule = (permission, action) => ({ permission, pattern: "*", action });
const asked = plan.mode === "ask" ? ["bash", "edit", "external_directory"] : [];
const permission = [rule("*", "allow"), ...asked.map((name) => rule(name, "ask"))];

async function readEvents(stream) {
  for await (const event of stream) {
    tell({ event });
    const p = event.properties;
    switch (event.type) {
      case "server.connected":
        connected = true;
        break;
      case "message.part.delta":
        text += p.delta;
        break;
      case "message.part.updated":
        if (p.part.type === "tool" && p.part.state.status !== "pending") tools.add(p.part.callID);
        break;
      case "message.updated":
        if (p.info.role === "assistant") replies.set(p.info.id, Boolean(p.info.time.completed));
        break;
      case "permission.asked":
        asks.push(p.id);
        break;
      case "session.idle":
        idle = true;
        break;
    }
    seen.changed();
  }
}

// checked returns the data of a reply.
async function checked(what, reply) {
  const { data, error } = await reply;
  if (error) throw new Error(what + ": " + JSON.stringify(error));
  tell({ [what]: data });
  return data;
}

async function open() {
  [connected, text, tools, replies] = [false, "", new Set(), new Map()];
  server = await createOpencodeServer({ port: 0, timeout: 40_000 });
  client = createOpencodeClient({ baseUrl: server.url });
  listening = new AbortController();
  const { stream } = await client.event.subscribe({}, { signal: listening.signal, sseMaxRetryAttempts: 1 });
  readEvents(stream).catch(() => {}); // close aborts it
  await seen.until("the stream of events", () => connected);
  if (session) {
    await checked("get", client.session.get({ sessionID: session }));
    await checked("update", client.session.update({ sessionID: session, permission }));
  } else {
    session = (await checked("create", client.session.create({ title: "Three rivers", permission }))).id;
  }
}

function close() {
  listening.abort();
  server.close();
}

await open();
await perform({
  async send({ text: prompt }) {
    text = "";
    idle = false;
    await checked("prompt", client.session.promptAsync({ sessionID: session, parts: [{ type: "text", text: prompt }] }));
  },
  async "wait text"({ text: want }) {
    await seen.until("text " + want, () => text.endsWith(want));
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
    await seen.until("the end of the turn", () => idle && [...replies.values()].every(Boolean));
  },
  async answer({ what }) {
    const reply = what === "allow" ? "once" : "reject";
    await checked("answer", client.permission.reply({ requestID: asks.shift(), reply }));
  },
  async stop() {
    await checked("abort", client.session.abort({ sessionID: session }));
  },
  close,
  async resume() {
    await open();
  },
});
close();
process.exit(0);
