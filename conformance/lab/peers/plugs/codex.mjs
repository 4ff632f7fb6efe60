// What the plugs of codex app-server share: its modes, as the providers name them.
import { emit, Refused } from "./plug.mjs";

const modes = {
  ask: ["untrusted", "workspace-write"],
  "read-only": ["on-request", "read-only"],
  never: ["never", "danger-full-access"],
};

export function rules(mode) {
  if (!modes[mode]) throw new Refused("unsupported", `no mode ${mode}`);
  const [approval, sandbox] = modes[mode];
  return { approval, sandbox };
}

// A call's result is its whole item, or the JSON text of it. While a command runs,
// its output may come as results of a kind of their own.
export function result(part) {
  let item = part.output ?? part.error;
  try {
    item = JSON.parse(item);
  } catch {}
  if (item?.type === "output-delta") return emit("tool_output", { tool_use_id: part.toolCallId, text: item.delta });
  const isError = part.type === "tool-error" || item?.status === "failed" || item?.status === "declined";
  return { type: "tool-result", toolCallId: part.toolCallId, isError, output: item?.type === "webSearch" ? item.query : item?.aggregatedOutput ?? item?.result?.content ?? item?.error?.message ?? "" };
}
