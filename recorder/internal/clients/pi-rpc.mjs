// Drives the RpcClient that Pi brings: one process a session.
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { perform, plan, Seen, tell } from "./play.mjs";

const { RpcClient } = await import(pathToFileURL(join(plan.runtime, "node_modules/@earendil-works/pi-coding-agent/dist/modes/rpc/rpc-client.js")));

const seen = new Seen();
let client, session, text, ends, tools;

async function open(...args) {
  [text, ends, tools] = ["", 0, new Set()];
  client = new RpcClient({
    cliPath: join(import.meta.dirname ?? ".", "pi-program.mjs"), // the client starts it with node
    cwd: plan.work,
    env: { TURNSPEC_PROGRAM: plan.binary },
    args,
  });
  client.onEvent((e) => {
    tell({ event: e });
    if (e.type === "message_update" && e.assistantMessageEvent.type === "text_delta") text += e.assistantMessageEvent.delta;
    if (e.type === "tool_execution_start") tools.add(e.toolCallId);
    if (e.type === "agent_settled") ends++;
    seen.changed();
  });
  await client.start();
  session = (await client.getState()).sessionId;
  tell({ session });
}

await open();
await perform({
  async send({ text: message }) {
    text = "";
    ends = 0;
    await client.prompt(message);
  },
  async "wait text"({ text: want }) {
    await seen.until("the text before a hold", () => text.endsWith(want));
  },
  async "wait tool"({ id }) {
    await seen.until("tool " + id, () => [...tools].some((t) => t.endsWith(id)));
  },
  async "wait file"({ name }) {
    await seen.file(name);
  },
  async "wait end"() {
    await seen.until("the end of the turn", () => ends > 0);
  },
  async stop() {
    await client.abort();
  },
  async close() {
    await client.stop();
  },
  async resume() {
    await open("--session", session);
  },
});
await client.stop();
process.exit(0);
