// ai-sdk-provider-codex-app-server: one process, one thread. It is a provider of
// the AI SDK 6, and hands no approval to whoever calls it.
import { streamText } from "ai6";
import { createCodexAppServer } from "ai-sdk-provider-codex-app-server";
import { provide } from "./ai-sdk.mjs";
import { result, rules } from "./codex.mjs";

let one;

provide({
  name: "ai-sdk-provider-codex-app-server", runtime: "codex", streamText, asks: false, can: ["resume"],
  result,
  session: (meta) => meta["codex-app-server"]?.sessionId ?? meta.codex?.sessionId,
  open({ dir, mode, model = "gpt-5.5", resume }) {
    const { approval, sandbox } = rules(mode);
    const codex = createCodexAppServer({
      defaultSettings: {
        codexPath: process.env.CODEX_PATH, cwd: dir, logger: false, approvalMode: approval, sandboxMode: sandbox,
        ...(resume ? { resume } : {}),
      },
    });
    one = codex(model);
    return { next: () => one };
  },
  shut: () => one.dispose(),
});
