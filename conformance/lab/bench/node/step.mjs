// A control: the whole step in Node. Readline, JSON.parse, an event, JSON.stringify,
// from a file to nowhere. Arguments: the runtime and the file.
import { createReadStream, createWriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
const [runtime, file] = process.argv.slice(2);
const out = createWriteStream('/dev/null');
let seq = 0, turn = 0, n = 0, msg = '', buf = [], size = 0;
function emit(type, data) {
  seq++;
  const s = JSON.stringify({ type, data, ts: new Date().toISOString(), seq, session_id: 's1', turn }) + '\n';
  buf.push(s); size += s.length;
  if (size > 65536) { out.write(buf.join('')); buf = []; size = 0; }
  n++;
}
const start = process.hrtime.bigint(), c0 = process.cpuUsage();
const rl = createInterface({ input: createReadStream(file, { highWaterMark: 65536 }), crlfDelay: Infinity });
rl.on('line', (line) => {
  const m = JSON.parse(line);
  if (runtime === 'codex') {
    switch (m.method) {
      case 'turn/started': turn++; emit('turn_start', { cause: 'user', message_ids: [] }); break;
      case 'item/agentMessage/delta': emit('delta', { text: m.params.delta, message_id: m.params.itemId, block_id: m.params.itemId }); break;
      case 'turn/completed': emit('done', {}); break;
    }
  } else if (m.type === 'stream_event') {
    const e = m.event;
    switch (e.type) {
      case 'message_start': turn++; msg = e.message.id; emit('turn_start', { cause: 'user', message_ids: [] }); break;
      case 'content_block_delta': if (e.delta.type === 'text_delta') emit('delta', { text: e.delta.text, message_id: msg, block_id: msg + ':' + e.index }); break;
    }
  } else if (m.type === 'result') emit('done', {});
});
rl.on('close', () => {
  out.end(buf.join(''), () => {
    const wall = Number(process.hrtime.bigint() - start), c = process.cpuUsage(c0);
    console.log(JSON.stringify({ events: n, wall, cpu: (c.user + c.system) * 1000, rss: process.resourceUsage().maxRSS * 1024 }));
  });
});
