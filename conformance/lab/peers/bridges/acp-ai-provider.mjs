// @mcpc-tech/acp-ai-provider behind useChat: an ACP agent, here that of Claude Code.
import { fileURLToPath } from "node:url";
import { createACPProvider } from "@mcpc-tech/acp-ai-provider";
import * as ai from "ai";
import { chat } from "./server.mjs";

const agent = fileURLToPath(import.meta.resolve("@agentclientprotocol/claude-agent-acp/dist/index.js"));
const open = [];

chat(ai, () => {
  const provider = createACPProvider({
    command: process.execPath, args: [agent], session: { cwd: process.cwd(), mcpServers: [] }, persistSession: true,
  });
  open.push(provider);
  return { model: provider.languageModel(undefined, "bypassPermissions"), tools: provider.tools };
}, () => open.forEach((provider) => provider.cleanup()));
