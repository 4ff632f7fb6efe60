// ai-sdk-provider-codex-cli behind useChat: its app-server, one process for all chats.
import * as ai from "ai";
import { createCodexAppServer } from "ai-sdk-provider-codex-cli";
import { chat } from "./server.mjs";

const codex = createCodexAppServer({
  defaultSettings: {
    codexPath: process.env.CODEX_PATH, logger: false, threadMode: "persistent", approvalPolicy: "never", sandboxPolicy: "danger-full-access",
  },
});

chat(ai, () => ({ model: codex("gpt-5.5") }), () => codex.close());
