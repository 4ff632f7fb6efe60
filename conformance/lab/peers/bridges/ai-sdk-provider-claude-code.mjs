// ai-sdk-provider-claude-code behind useChat: a query of the Agent SDK for each message.
import * as ai from "ai";
import { createClaudeCode } from "ai-sdk-provider-claude-code";
import { chat } from "./server.mjs";

chat(ai, () => ({
  // One model of the provider goes on with its session.
  model: createClaudeCode({
    defaultSettings: {
      pathToClaudeCodeExecutable: process.env.CLAUDE_CODE_EXECUTABLE, logger: false, permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true,
    },
  })("sonnet"),
}));
