// Sends a message to turnspec serve as the front ends of SERVE.md do, and prints what they show:
// node chat.mjs SERVER TOKEN useChat|HttpAgent|CopilotKit allow|deny|cut|VALUE
// VALUE is the answer to each question of the runtime, as JSON.
import { setTimeout as sleep } from "node:timers/promises";
import { Chat } from "@ai-sdk/react"; // what useChat makes of its options
import { answers, chatOptions, newAgent, newCopilotKit } from "./frontends.mjs";

const [server, token, client, verdict] = process.argv.slice(2);
const isValue = verdict.startsWith("{");
const shown = { texts: [], asked: 0, error: "" };

// textsOf returns the texts of the agent in a message.
const textsOf = (m) => (m?.role === "assistant" ? m.parts.filter((p) => p.type === "text").map((p) => p.text) : []);

async function until(holds) {
  while (!holds()) await sleep(10);
}

async function useChat() {
  const newChat = (messages) => new Chat({ ...chatOptions(server, token, "c1"), messages, onError: (e) => (shown.error = e.message) });
  const waits = (p) => p.state === "approval-requested" || (p.type === "dynamic-tool" && p.state === "input-available" && !p.providerExecuted);
  const waiting = () => chat.lastMessage?.parts.filter(waits) ?? [];
  const confirmed = (p) => p.state !== "approval-responded" && (!p.state.startsWith("output-") || p.state === "output-denied" || p.providerExecuted);
  const settled = () => chat.status === "ready" || chat.status === "error";
  let chat = newChat([]);
  const sent = chat.sendMessage({ text: "hello" });
  if (verdict === "cut") {
    const cut = () => textsOf(chat.lastMessage).join("").endsWith(" was a"); // the model waits there
    await until(cut);
    await chat.stop();
    await sent;
    chat = newChat(chat.messages); // the page is loaded again
    const resumed = chat.resumeStream();
    await until(() => chat.status === "streaming" && cut());
    await chat.stop();
    await resumed;
    shown.texts = textsOf(chat.lastMessage);
    shown.asked = chat.messages.length;
    return;
  }
  await sent;
  for (let parts; (parts = waiting()).length; ) {
    shown.asked += parts.length;
    for (const p of parts)
      if (p.approval) await chat.addToolApprovalResponse({ id: p.approval.id, approved: verdict === "allow" });
      else await chat.addToolOutput({ tool: p.toolName, toolCallId: p.toolCallId, ...(isValue ? { output: JSON.parse(verdict) } : { state: "output-error", errorText: "not now" }) });
    await until(() => settled() && chat.lastMessage.parts.filter((p) => p.toolCallId).every((p) => confirmed(p) && (!waits(p) || !parts.some((q) => q.toolCallId === p.toolCallId))));
  }
  shown.texts = textsOf(chat.lastMessage);
}

async function httpAgent() {
  const agent = newAgent(server, token, "t1");
  await runToTheEnd(agent, (parameters, subscriber) => agent.runAgent(parameters, subscriber));
}

async function copilotKit() {
  const core = newCopilotKit(server, token, "t1");
  core.subscribe({ onError: ({ error }) => void (shown.error ||= error.message) });
  const agent = core.getAgent("default");
  await runToTheEnd(agent, (parameters, subscriber) => {
    const { unsubscribe } = agent.subscribe(subscriber);
    return core.runAgent({ agent, ...parameters }).finally(unsubscribe);
  });
}

// runToTheEnd runs an agent, and answers until nothing waits.
async function runToTheEnd(agent, run) {
  const { error } = console;
  console.error = () => {}; // the client prints what it throws
  agent.addMessage({ id: "u1", role: "user", content: "hello" });
  let resume;
  do {
    const failed = { onRunErrorEvent: ({ event }) => void (shown.error = event.message) };
    await run({ resume }, failed).catch((e) => (shown.error ||= e.message));
    shown.asked += agent.pendingInterrupts.length;
    resume = answers(agent, verdict === "allow");
    if (isValue) resume = resume.map((a) => ({ ...a, payload: JSON.parse(verdict) }));
  } while (resume.length);
  console.error = error;
  shown.texts = agent.messages.filter((m) => m.role === "assistant" && m.content).map((m) => m.content);
}

await { useChat, HttpAgent: httpAgent, CopilotKit: copilotKit }[client]();
console.log(JSON.stringify(shown));
process.exit(0);
