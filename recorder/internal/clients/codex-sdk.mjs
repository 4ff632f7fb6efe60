// Drives @openai/codex-sdk: `codex exec`, one process a turn. It has no way to
// ask the user.
import { Codex } from "@openai/codex-sdk";
import { perform, plan, Seen, tell } from "./play.mjs";

const seen = new Seen();
const codex = new Codex({ codexPathOverride: plan.binary });
const options = { workingDirectory: plan.work, skipGitRepoCheck: true, sandboxMode: "danger-full-access" };
let thread = codex.startThread(options);
let abort, turn;
const tools = new Set();

async function listen(text, signal) {
  try {
    const { events } = await thread.runStreamed(text, { signal });
    for await (const e of events) {
      tell({ event: e });
      if (e.item) tools.add(e.item.type + ":" + e.item.id);
      seen.changed();
    }
  } catch (e) {
    tell({ thrown: { name: e.name, message: e.message } });
  }
  tell({ over: thread.id });
}

await perform({
  async send({ text }) {
    abort = new AbortController();
    tools.clear();
    turn = listen(text, abort.signal);
  },
  async "wait tool"() {
    await seen.until("a command", () => [...tools].some((t) => t.startsWith("command_execution:")));
  },
  async "wait file"({ name }) {
    await seen.file(name);
  },
  async "wait end"() {
    await turn;
  },
  async stop() {
    abort.abort();
    await turn;
  },
  async close() {},
  async resume() {
    thread = codex.resumeThread(thread.id, options);
  },
});
process.exit(0);
