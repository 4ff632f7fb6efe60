// Drives @anthropic-ai/claude-agent-sdk: one query a process of the runtime.
import { query } from "@anthropic-ai/claude-agent-sdk";
import { perform, plan, Seen, tell } from "./play.mjs";

const seen = new Seen();
let q, over, give, session, text, ends, tools;
const asks = [];

function open(resume) {
  const waiting = [];
  let wake = () => {};
  give = (m) => (waiting.push(m), wake());
  async function* prompt() {
    for (;;) {
      while (waiting.length) {
        const m = waiting.shift();
        if (m === null) return;
        yield m;
      }
      await new Promise((go) => (wake = go));
    }
  }
  [ends, tools] = [0, new Set()];
  q = query({
    prompt: prompt(),
    options: {
      cwd: plan.work,
      pathToClaudeCodeExecutable: plan.binary,
      includePartialMessages: true,
      permissionMode: plan.mode,
      allowDangerouslySkipPermissions: plan.mode === "bypassPermissions",
      resume,
      stderr: (s) => process.stderr.write(s),
      canUseTool: (tool, input, { signal, ...options }) =>
        new Promise((decide) => {
          tell({ ask: { tool, input, options } });
          asks.push({ decide, input });
          seen.changed();
        }),
    },
  });
  over = listen(q);
}

async function listen(q) {
  try {
    for await (const m of q) {
      tell({ message: m });
      session = m.session_id ?? session;
      if (m.type === "stream_event" && m.event.delta?.type === "text_delta") text += m.event.delta.text;
      if (m.type === "assistant") for (const b of m.message.content) if (b.type === "tool_use") tools.add(b.id);
      if (m.type === "result") ends++;
      seen.changed();
    }
  } catch (e) {
    tell({ thrown: e.message });
  }
  tell({ over: true });
}

open();
await perform({
  // Reads that a client may make outside of its turns.
  async ask({ what }) {
    tell({ answer: what, is: await q[what]() });
  },
  async send({ text: content }) {
    text = "";
    give({ type: "user", message: { role: "user", content }, parent_tool_use_id: null });
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
    const { decide, input } = asks.shift();
    decide(what === "allow" ? { behavior: "allow", updatedInput: input } : { behavior: "deny", message: "Rather not, said the user." });
  },
  async stop() {
    tell({ interrupted: await q.interrupt() });
  },
  async close() {
    give(null);
    await over;
  },
  async resume() {
    open(session);
  },
});
process.exit(0);
