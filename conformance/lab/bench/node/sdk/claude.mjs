// package: @anthropic-ai/claude-agent-sdk
//
// A control for the end of the chain: the official client of Claude Code, on the
// stand-in. Arguments: the load as JSON {targets, deltas, rate}, the folder with
// node_modules, the message. What it prints is that of stream.mjs.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [load, dir, message] = process.argv.slice(2);
const { targets } = JSON.parse(load);
const { query } = await import(pathToFileURL(createRequire(join(dir, 'package.json')).resolve('@anthropic-ai/claude-agent-sdk')).href);

const now = () => process.hrtime.bigint();
const stamp = /@([0-9a-z]+),([0-9a-z]+),([0-9a-z]+);/g;
const number = (s) => { let n = 0n; for (const c of s) n = n * 36n + BigInt(parseInt(c, 36)); return n; };

async function session(target) {
  const s = { opened: now(), bound: 0n, sent: 0n, first: 0n, last: 0n, got: [] };
  let done;
  const over = new Promise((resolve) => { done = resolve; });
  let told;
  const ready = new Promise((resolve) => { told = resolve; });
  async function* prompt() {
    await ready;
    s.sent = now();
    yield { type: 'user', message: { role: 'user', content: message }, parent_tool_use_id: null };
    await over;
  }
  const q = query({ prompt: prompt(), options: { cwd: process.cwd(), pathToClaudeCodeExecutable: target.exec, includePartialMessages: true } });
  q.initializationResult().then(() => { s.bound = now(); told(); });
  for await (const m of q) {
    if (m.type === 'result') done();
    if (m.type !== 'stream_event' || m.event.delta?.type !== 'text_delta') continue;
    const at = now();
    for (const f of m.event.delta.text.matchAll(stamp)) {
      if (!s.first) s.first = at;
      s.last = at;
      const due = number(f[2]);
      s.got.push(parseInt(f[1], 36), Number(at - due), Number(at - due - number(f[3])));
    }
  }
  return s;
}

for (const s of await Promise.all(targets.map(session))) {
  console.log(JSON.stringify({ opened: Number(s.opened), bound: Number(s.bound), sent: Number(s.sent), first: Number(s.first), last: Number(s.last), got: s.got }));
}
const c = process.cpuUsage();
console.log(JSON.stringify({ cpu: (c.user + c.system) * 1000, rss: process.memoryUsage().rss }));
