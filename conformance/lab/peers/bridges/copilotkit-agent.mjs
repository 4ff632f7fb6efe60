// @copilotkitnext/agent behind the HttpAgent of AG-UI: it makes events of AG-UI from a provider of the
// AI SDK, here ai-sdk-provider-codex-cli.
import { BuiltInAgent } from "@copilotkitnext/agent";
import { createCodexAppServer } from "ai-sdk-provider-codex-cli1";
import { serve } from "./server.mjs";

const codex = createCodexAppServer({
  defaultSettings: {
    codexPath: process.env.CODEX_PATH, logger: false, threadMode: "persistent", approvalPolicy: "never", sandboxPolicy: "danger-full-access",
  },
});
const models = new Map();

serve("/", (input, response, leave) => {
  if (!models.has(input.threadId)) models.set(input.threadId, codex("gpt-5.5"));
  const agent = new BuiltInAgent({ model: models.get(input.threadId) });
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  response.flushHeaders();
  leave.addEventListener("abort", () => agent.abortRun());
  agent.run(input).subscribe({
    next: (event) => response.write(`data: ${JSON.stringify(event)}\n\n`),
    error: (e) => (console.error(e), response.end()),
    complete: () => response.end(),
  });
}, () => codex.close?.());
