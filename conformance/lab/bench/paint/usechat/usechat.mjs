// The page of useChat: the text of each message, as the documentation of the package shows
// it. It makes the marks of the chat page.
import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createElement, useLayoutEffect } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { afterFrame, isMarked, markStages, stage } from "./marks.mjs";

const session = new URLSearchParams(location.hash.slice(1)).get("session");

// ends are the lengths of the text after each delta, which is known: see word in source.go.
const ends = [];
for (let i = 0, length = 0; i < 200_000; i++) {
  length += (i % 120 === 119 ? `end ${i}.\n\n` : i % 12 === 11 ? `**part ${i}**. ` : `word ${i} `).length;
  ends.push(length);
}
const before = 3; // events of a session before its first delta

// seqOf returns the seq of the last event whose text is shown.
function seqOf(length) {
  let low = 0, high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] <= length) low = middle + 1;
    else high = middle;
  }
  return before + low;
}

// watch marks when the first messages and the first text come.
function watch(body) {
  const decoder = new TextDecoder();
  return body.pipeThrough(new TransformStream({
    transform(bytes, out) {
      stage("event");
      stage("status");
      if (!isMarked("text") && decoder.decode(bytes, { stream: true }).includes(`"text-delta"`)) stage("text");
      out.enqueue(bytes);
    },
  }));
}

// The server has a route for messages and one for the stream; a transport expects one.
async function post(_, { signal }) {
  const message = { message: "Go on", message_id: crypto.randomUUID() };
  await fetch(`/sessions/${session}/message`, { method: "POST", body: JSON.stringify(message) });
  stage("accepted");
  const answer = await fetch(`/sessions/${session}/events?format=uistream&after=1`, { signal }); // session_ready
  return new Response(watch(answer.body), { headers: answer.headers, status: answer.status });
}

const textOf = (message) => message.parts.map((p) => p.text ?? "").join("");

function Chat() {
  const chat = useChat({ transport: new DefaultChatTransport({ fetch: post }), throttle: 50 });
  globalThis.chat = chat;
  useLayoutEffect(() => {
    const last = chat.messages.at(-1);
    if (!last) return;
    const length = last.role === "assistant" ? textOf(last).length : 0, shown = seqOf(length);
    requestAnimationFrame(() => afterFrame(() => {
      performance.mark("turnspec:frame", { detail: shown });
      if (length > 0) stage("paint");
    }));
  }, [chat.messages]);
  return chat.messages.map((m) => createElement("div", { key: m.id }, textOf(m)));
}

function send() {
  stage("send");
  globalThis.chat.sendMessage({ text: "Go on" });
}

// open shows the newest messages of a stored session.
async function open(stored) {
  stage("choose");
  const response = await fetch(`/sessions/${stored}/chat?messages=50`);
  const { chat } = await response.json();
  stage("event");
  const walk = (blocks) => blocks.map((b) => `${b.text ?? ""}\n${walk(b.blocks ?? [])}`).join("");
  const messages = chat.messages.map((m, i) => ({ id: String(i), role: m.role === "user" ? "user" : "assistant", parts: [{ type: "text", text: walk(m.blocks ?? []) }] }));
  flushSync(() => globalThis.chat.setMessages(messages));
  requestAnimationFrame(() => afterFrame(() => {
    stage("recent");
    requestIdleCallback(() => stage("idle"));
  }));
}

createRoot(document.getElementById("chat")).render(createElement(Chat));
globalThis.usechat = { markStages, send, open };
