// A control: what Node's readline and JSON.parse do with a stream.
// Arguments: the load as JSON {targets, deltas, rate}; a target is {exec} or
// {socket}. On stdout: a line of JSON per session, then one of the whole.
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

const now = () => process.hrtime.bigint();
const { targets, deltas, rate } = JSON.parse(process.argv[2]);
const stamp = /@([0-9a-z]+),([0-9a-z]+),([0-9a-z]+);/g;
const number = (s) => { let n = 0n; for (const c of s) n = n * 36n + BigInt(parseInt(c, 36)); return n; };

// textOf returns the text of a delta, in the form of whichever runtime wrote the line.
function textOf(m) {
  if (m.method === 'item/agentMessage/delta') return m.params.delta; // codex
  if (m.type === 'stream_event' && m.event?.delta?.type === 'text_delta') return m.event.delta.text; // claude
  if (m.params?.update?.sessionUpdate === 'agent_message_chunk') return m.params.update.content.text; // acp
  if (m.assistantMessageEvent?.type === 'text_delta') return m.assistantMessageEvent.delta; // pi
  if (m.data?.type === 'message.part.delta') return m.data.properties.delta; // opencode
  return m.data?.choices?.[0]?.delta?.content ?? ''; // chat
}

let waiting = targets.length;
const goes = [];
function ready(go) {
  goes.push(go);
  if (--waiting > 0) return;
  goes.forEach((g, i) => setTimeout(g, rate > 0 ? (1000 / rate) * (i / goes.length) : 0));
}

function session(target) {
  return new Promise((resolve, reject) => {
    const s = { opened: now(), bound: 0n, sent: 0n, first: 0n, last: 0n, got: [] };
    let input, output;
    if (target.socket) {
      input = output = connect(target.socket);
      input.write('["node"]\n');
    } else {
      const child = spawn(target.exec, [], { stdio: ['pipe', 'pipe', 'inherit'] });
      child.on('error', reject);
      input = child.stdin; output = child.stdout;
    }
    input.on('error', () => {});
    const rl = createInterface({ input: output, crlfDelay: Infinity });
    rl.on('line', (line) => {
      const m = JSON.parse(line);
      if (m.ready) {
        s.bound = now();
        ready(() => { s.sent = now(); input.write('go\n'); });
        return;
      }
      const text = textOf(m);
      if (!text) return;
      const at = now();
      for (const f of text.matchAll(stamp)) {
        if (!s.first) s.first = at;
        s.last = at;
        const due = number(f[2]);
        s.got.push(parseInt(f[1], 36), Number(at - due), Number(at - due - number(f[3])));
      }
    });
    rl.on('close', () => { if (target.socket) input.destroy(); resolve(s); });
  });
}

const all = await Promise.all(targets.map(session));
for (const s of all) {
  console.log(JSON.stringify({ opened: Number(s.opened), bound: Number(s.bound), sent: Number(s.sent), first: Number(s.first), last: Number(s.last), got: s.got }));
}
const c = process.cpuUsage();
console.log(JSON.stringify({ cpu: (c.user + c.system) * 1000, rss: process.memoryUsage().rss }));
