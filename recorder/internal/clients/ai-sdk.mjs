// Drives the AI SDK with its provider for OpenAI-compatible models: one message, and as many
// requests to the model as its tool calls need. It prints each part of the stream.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { plan, tell } from "./play.mjs";

const provider = createOpenAICompatible({ name: "scripted", baseURL: plan.model, apiKey: "dummy", includeUsage: true });
const result = streamText({
  model: provider.chatModel("scripted"),
  prompt: "hi",
  maxRetries: 0,
  stopWhen: stepCountIs(3),
  tools: {
    bash: tool({ inputSchema: z.object({ command: z.string() }), execute: async ({ command }) => "ran " + command }),
  },
  onError() {},
});
for await (const part of result.fullStream) {
  const { type, id, text, delta, toolCallId, input, output, finishReason, totalUsage, error } = part;
  const usage = totalUsage && { input: totalUsage.inputTokens, output: totalUsage.outputTokens };
  tell({ type, id, text: text ?? delta, call: toolCallId, input, output, finishReason, usage, error: error && (error.message ?? String(error)) });
}
process.exit(0);
