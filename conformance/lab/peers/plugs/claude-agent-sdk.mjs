// @anthropic-ai/claude-agent-sdk in a loop, as its documentation shows it: one
// query with streaming input, text from stream events, tools from the messages.
import { query } from "@anthropic-ai/claude-agent-sdk";
import { ask, begin, call, emit, end, number, ready, Refused, running, serve, text } from "./plug.mjs";

const modes = { ask: "default", "accept-edits": "acceptEdits", plan: "plan", "dont-ask": "dontAsk", never: "bypassPermissions" };
const waiting = [];
let wake = () => {}, q, over, stopped, messages = 0, sent = [];

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
const give = (m) => (waiting.push(m), wake());

function show(m) {
  if (m.parent_tool_use_id) return; // of a sub-agent
  switch (m.type) {
    case "system":
      if (m.subtype !== "init") break;
      ready("claude", m.session_id);
      if (!running()) begin(...sent.splice(0)); // the runtime answers all queued messages in one turn
      break;
    case "stream_event": {
      const { event } = m;
      if (event.type === "message_start") messages++;
      if (event.type !== "content_block_delta") break;
      const message_id = `${number()}.${messages}`, block_id = `${message_id}.${event.index}`; // unique in a resumed session too
      if (event.delta.type === "text_delta") emit("delta", { text: event.delta.text, message_id, block_id });
      if (event.delta.type === "thinking_delta") emit("thinking", { text: event.delta.thinking, block_id });
      break;
    }
    case "assistant":
      for (const b of m.message.content) {
        if (b.type === "tool_use") call(b.id, b.name, b.input);
      }
      break;
    case "user":
      if (!Array.isArray(m.message.content)) break;
      for (const b of m.message.content) {
        if (b.type !== "tool_result") continue;
        emit("tool_result", { tool_use_id: b.tool_use_id, output: text(b.content), is_error: !!b.is_error, status: b.is_error ? "error" : "ok" });
      }
      break;
    case "result":
      stopped ||= m.is_error && m.terminal_reason?.startsWith("aborted"); // by a signal to the runtime, say
      if (running()) end({ error: m.is_error && (m.errors?.join("\n") || m.result || m.subtype), stopped });
      stopped = false;
  }
}

async function listen() {
  let error;
  try {
    for await (const m of q) show(m);
  } catch (e) {
    error = e;
  }
  if (!running() && sent.length) begin(sent.shift());
  if (running()) end({ error: error ?? "the query is over" });
}

serve({
  name: "@anthropic-ai/claude-agent-sdk", runtime: "claude", can: ["answer", "stop", "resume", "mcp"],
  events: ["session_ready", "turn_start", "delta", "thinking", "tool_start", "tool_result", "permission_request", "permission_resolved", "error", "done"],
  without: ["session_ready", "subagent_id", "turn_start", "thinking.done", "tool_start.background", "tool_start.is_file_read", "tool_start.subagent_spawn", "tool_result.changes", "tool_result.status", "error.code"],
}, {
  open({ dir, mode, model, resume, fork, args, mcp = [] }) {
    if (!modes[mode]) throw new Refused("unsupported", `no mode ${mode}`);
    if (args?.length) throw new Refused("unsupported", `arguments ${args.join(" ")}`);
    q = query({
      prompt: prompt(),
      options: {
        cwd: dir, model, resume, forkSession: fork, includePartialMessages: true,
        pathToClaudeCodeExecutable: process.env.CLAUDE_CODE_EXECUTABLE,
        permissionMode: modes[mode], allowDangerouslySkipPermissions: mode === "never",
        mcpServers: Object.fromEntries(mcp.map(({ name, ...s }) => [name, { type: "stdio", ...s }])),
        stderr: (s) => process.stderr.write(s),
        canUseTool: async (tool_name, input, { toolUseID, signal }) => {
          const a = await ask({ tool_name, tool_input: input, tool_use_id: toolUseID }, signal);
          if (a.decision === "allow") return { behavior: "allow", updatedInput: a.input ?? input };
          stopped ||= a.decision === "cancel";
          return { behavior: "deny", message: a.message || "User denied this action", interrupt: a.decision === "cancel" };
        },
      },
    });
    over = listen();
  },
  send({ message_id, text: content }) {
    sent.push(message_id);
    give({ type: "user", message: { role: "user", content }, parent_tool_use_id: null });
  },
  async stop() {
    stopped = running();
    await q.interrupt();
  },
  async close() {
    if (running()) q.close();
    else give(null);
    await over;
  },
});
