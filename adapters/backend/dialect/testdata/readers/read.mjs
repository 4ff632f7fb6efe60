// Reads streams with the libraries of front ends. Each line of stdin is a stream,
// {"name","reader","lines"}, where lines are its messages. Each line of stdout is a stream that
// a library does not accept, {"name","reader","problem"}, and the last line is {"read":N}.
// The problem of a reader whose name begins with "verdict of" begins with rejects or warns.
import { createInterface } from "node:readline";
import { format } from "node:util";

const readers = {};

// uistream reads a stream as useChat does, and then checks the message.
function uistream({ parseJsonEventStream, uiMessageChunkSchema, readUIMessageStream, safeValidateUIMessages }) {
  return async (lines) => {
    const frames = lines.map((l) => `data: ${l}\n\n`).join("") + "data: [DONE]\n\n";
    const failed = lines.map((l) => JSON.parse(l)).find((c) => c.type === "error");
    const problems = [];
    const chunks = parseJsonEventStream({ stream: new Response(frames).body, schema: uiMessageChunkSchema }).pipeThrough(
      new TransformStream({
        transform(c, out) {
          if (c.success) out.enqueue(c.value);
          else problems.push(String(c.error));
        },
      }),
    );
    let last;
    try {
      for await (const message of readUIMessageStream({ stream: chunks, terminateOnError: true })) last = message;
      if (failed) problems.push("the error is not reported");
    } catch (e) {
      if (e.message !== failed?.errorText) problems.push(String(e));
    }
    if (last?.parts.length) {
      const checked = await safeValidateUIMessages({ messages: [last] });
      if (!checked.success) problems.push(String(checked.error).slice(0, 600));
      const open = last.parts.find((p) => p.state === "streaming" || p.state === "input-streaming" || p.state === "input-available");
      if (open) problems.push(`the message has an open part: ${JSON.stringify(open)}`);
    }
    return problems;
  };
}
readers["ai 6"] = uistream(await import("ai6"));
readers["ai 7"] = uistream(await import("ai"));
readers["verdict of ai 7"] = async (lines) => {
  try {
    return (await readers["ai 7"](lines)).map((problem) => `rejects: ${problem}`);
  } catch (e) {
    return [`rejects: ${e}`]; // a line is no JSON
  }
};

// agui reads a stream as HttpAgent does: each event, their order, and what they make.
async function agui(lines) {
  const problems = [];
  const events = [];
  for (const line of lines) {
    const r = EventSchemas.safeParse(JSON.parse(line));
    if (r.success) events.push(r.data);
    else problems.push(`${line.slice(0, 200)}: ${r.error}`);
  }
  await new Promise((done) =>
    verifyEvents(false)(from(events)).subscribe({ error: (e) => (problems.push(String(e)), done()), complete: done }),
  );
  return problems;
}
const { EventSchemas } = await import("@ag-ui/core/schemas");
const { HttpAgent, verifyEvents } = await import("@ag-ui/client");
const { from } = await import("rxjs");
readers["@ag-ui/client"] = agui;

// aguiVerdict gives a stream to the client as its server would, and returns whether that rejects it or warns.
async function aguiVerdict(lines) {
  const frames = lines.map((l) => `data: ${l}\n\n`).join("");
  const fetch = async () => new Response(frames, { headers: { "content-type": "text/event-stream" } });
  const said = [];
  const { warn, error } = console;
  console.warn = console.error = (...args) => said.push(format(...args).slice(0, 300));
  try {
    await new HttpAgent({ url: "http://127.0.0.1", fetch, threadId: "t" }).runAgent({ runId: "r" });
  } catch (e) {
    return [`rejects: ${e.message.slice(0, 300)}`];
  } finally {
    Object.assign(console, { warn, error });
  }
  return said.length ? [`warns: ${said.join("; ")}`] : [];
}
readers["verdict of @ag-ui/client"] = aguiVerdict;

// acp reads what an agent writes as an editor does, which sends a prompt for each reply.
async function acp(lines) {
  const problems = [];
  const [agent, wire, written] = [new TransformStream(), new TransformStream(), []];
  (async () => {
    for await (const m of wire.readable) written.push(m);
  })();
  const input = agent.writable.getWriter();
  let updates = 0;
  const client = {
    sessionUpdate: async () => void updates++,
    requestPermission: async () => ({ outcome: { outcome: "cancelled" } }),
  };
  const log = console.error;
  console.error = (...args) => problems.push(format(...args).slice(0, 600));
  const connection = new ClientSideConnection(() => client, { readable: agent.readable, writable: wire.writable });
  const messages = lines.map((l) => JSON.parse(l));
  const isReply = (m) => m.method === undefined;
  const replies = messages.filter(isReply).length;
  const prompt = () =>
    connection.prompt({ sessionId: "s", prompt: [{ type: "text", text: "go" }] }).then(
      (r) => r,
      (e) => e,
    );
  let [sent, pending] = [0, replies > 0 ? prompt() : undefined];
  for (const m of messages) {
    if (!isReply(m)) {
      await input.write(m);
      continue;
    }
    await new Promise((done) => setImmediate(done)); // so that the request is written
    const ids = written.filter((w) => w.method === "session/prompt").map((w) => w.id);
    await input.write({ ...m, id: ids[sent++] });
    const got = await pending;
    if (m.result ? got.stopReason !== m.result.stopReason : got.code !== m.error.code) problems.push(`the prompt is answered with ${JSON.stringify(got)}`);
    if (sent < replies) pending = prompt();
  }
  await new Promise((done) => setImmediate(done));
  await input.close();
  await connection.closed;
  console.error = log;
  for (const w of written) if (w.error) problems.push(`it is refused: ${JSON.stringify(w.error)}`.slice(0, 600));
  const want = messages.filter((m) => m.method === "session/update").length;
  if (updates !== want) problems.push(`${updates} updates arrived, of ${want}`);
  return problems;
}
const { ClientSideConnection } = await import("@agentclientprotocol/sdk");
readers["@agentclientprotocol/sdk"] = acp;

let read = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { name, reader, lines } = JSON.parse(line);
  for (const problem of await readers[reader](lines)) console.log(JSON.stringify({ name, reader, problem }));
  read++;
}
console.log(JSON.stringify({ read }));
