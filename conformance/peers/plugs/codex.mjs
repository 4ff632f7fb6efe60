// What the plugs of codex app-server share: its modes, as the providers name them.
import { Refused } from "./plug.mjs";

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
