// ai-sdk-provider-claude-code: a query of the Agent SDK for each call.
import { streamText } from "ai";
import { createClaudeCode } from "ai-sdk-provider-claude-code";
import { provide } from "./ai-sdk.mjs";
import { ask, Refused } from "./plug.mjs";

const modes = { ask: "default", "accept-edits": "acceptEdits", plan: "plan", "dont-ask": "dontAsk", never: "bypassPermissions" };

provide({
  name: "ai-sdk-provider-claude-code", runtime: "claude", streamText, asks: true, can: ["resume", "mcp"],
  session: (meta) => meta["claude-code"]?.sessionId,
  open({ dir, mode, model = "sonnet", resume, mcp = [] }) {
    if (!modes[mode]) throw new Refused("unsupported", `no mode ${mode}`);
    const claude = createClaudeCode({
      defaultSettings: {
        cwd: dir, resume, pathToClaudeCodeExecutable: process.env.CLAUDE_CODE_EXECUTABLE, logger: false,
        permissionMode: modes[mode], allowDangerouslySkipPermissions: mode === "never",
        mcpServers: Object.fromEntries(mcp.map(({ name, ...s }) => [name, { type: "stdio", ...s }])),
        canUseTool: async (tool_name, input, { toolUseID, signal }) => {
          const a = await ask({ tool_name, tool_input: input, tool_use_id: toolUseID }, signal);
          if (a.decision === "allow") return { behavior: "allow", updatedInput: a.input ?? input };
          return { behavior: "deny", message: a.message || "User denied this action", interrupt: a.decision === "cancel" };
        },
      },
    });
    const one = claude(model); // it goes on with its session at the next call
    return { next: () => one };
  },
});
