// @openai/codex-sdk in a loop, as its documentation shows it: runStreamed, which
// is `codex exec` for each turn. It has no pieces of text and no questions.
import { Codex } from "@openai/codex-sdk";
import { begin, emit, end, number, ready, Refused, running, serve } from "./plug.mjs";

let thread, abort, turn;

// A command or call is told when it begins, and once more when it is over.
const tools = {
  command_execution: (i) => ({ tool: "Bash", input: { command: i.command }, command: i.command }),
  mcp_tool_call: (i) => ({ tool: `mcp__${i.server}__${i.tool}`, input: i.arguments ?? {} }),
  file_change: (i) => ({ tool: "Edit", input: { changes: i.changes } }),
  web_search: (i) => ({ tool: "WebSearch", input: { query: i.query } }),
};
const output = (i) => i.aggregated_output ?? i.error?.message ?? i.result?.content?.map((c) => c.text ?? "").join("\n") ?? "";
let open = new Set();

function show({ type, item: told, thread_id }) {
  if (type === "thread.started") ready("codexexec", thread_id);
  if (!told) return;
  const item = { ...told, id: `${number()}.${told.id}` }; // each turn counts its items anew
  const done = type === "item.completed";
  if (item.type === "agent_message" && done) emit("delta", { text: item.text, message_id: item.id, block_id: item.id });
  if (item.type === "reasoning" && done) emit("thinking", { text: item.text, block_id: item.id });
  if (item.type === "todo_list") emit("plan", { steps: item.items.map((s) => ({ text: s.text, status: s.completed ? "completed" : "pending" })) });
  const tool = tools[item.type]?.(item);
  if (tool && !open.has(item.id)) {
    open.add(item.id);
    emit("tool_start", { tool_use_id: item.id, ...tool });
  }
  if (tool && done) {
    const is_error = item.status === "failed" || item.status === "declined";
    const code = Number.isInteger(item.exit_code) ? { exit_code: item.exit_code } : {};
    emit("tool_result", { tool_use_id: item.id, output: output(item), is_error, status: is_error ? "error" : "ok", ...code });
  }
}

async function run(text, signal) {
  let error;
  open = new Set();
  try {
    const { events } = await thread.runStreamed(text, { signal });
    for await (const e of events) {
      if (e.type === "turn.failed") error = e.error;
      show(e);
    }
  } catch (e) {
    error ??= e;
  }
  end({ error, stopped: signal.aborted });
}

serve({
  name: "@openai/codex-sdk", runtime: "codexexec", can: ["stop", "resume"],
  events: ["session_ready", "turn_start", "delta", "thinking", "plan", "tool_start", "tool_result", "error", "done"],
  without: [
    "session_ready", "turn_start", "subagent_id", "tool_start.tool_use_id", "tool_start.input", "thinking.done", "tool_start.is_file_read", "tool_start.subagent_spawn", "tool_result.changes", "tool_result.status", "error.code",
  ],
}, {
  open({ dir, mode, model, resume }) {
    if (mode !== "never") throw new Refused("unsupported", `exec asks nothing: no mode ${mode}`);
    const codex = new Codex({ codexPathOverride: process.env.CODEX_PATH });
    const options = { workingDirectory: dir, skipGitRepoCheck: true, model, sandboxMode: "danger-full-access" };
    thread = resume ? codex.resumeThread(resume, options) : codex.startThread(options);
  },
  send({ message_id, text }) {
    if (running()) throw new Refused("unsupported", "a turn while one runs");
    abort = new AbortController();
    begin(message_id);
    turn = run(text, abort.signal);
  },
  stop() {
    if (running()) abort.abort();
  },
  async close() {
    await turn;
  },
});
