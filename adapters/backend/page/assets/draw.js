// Draws a chat into the page. What is drawn depends on the chat alone.

import { element, morph, drawList, drawShell } from "./dom.js";
import { drawMarkdown } from "./markdown.js";
import { shells, asideCard, componentView, statusLabel } from "./cards.js";

export function drawBlock(block, old) {
  if (block.data.kind === "text") {
    return drawMarkdown(block.text, { class: "text", "data-status": block.data.status }, old);
  }
  const shell = (shells[block.data.kind] ?? asideCard)(block);
  return drawShell(old, shell, block.blocks, drawBlock);
}

const roles = { user: "You", assistant: "Assistant", session: "Session" };
const vias = { merge: "sent while it worked", steer: "added while it worked" };
const causes = { task: "a task in the background ended", command: "a command" };

// footOf says how a turn ended, and what it cost.
function footOf(head) {
  const facts = [];
  if (head.status === "stopped") facts.push("Stopped");
  if (head.reason && head.status !== "complete" && head.reason !== head.status) facts.push(head.reason.replaceAll("_", " "));
  if (head.exit_code) facts.push(`exit code ${head.exit_code}`);
  const f = head.figures;
  if (f?.tokens) facts.push(`${(f.tokens.total || f.tokens.input + f.tokens.output).toLocaleString("en")} tokens`);
  if (f?.cost) facts.push(`$${f.cost.toFixed(f.cost < 0.1 ? 4 : 2)}`);
  if (f?.duration_ms) facts.push(`${(f.duration_ms / 1000).toFixed(1)} s`);
  return facts.length > 0 ? element("p", { class: "foot" }, facts.join(" · ")) : null;
}

export function drawMessage(message, old) {
  const { head } = message;
  const shell = element(
    "article", { class: `message ${head.role}`, "data-number": message.number, "data-status": head.status, "aria-label": roles[head.role] ?? head.role, "aria-busy": head.status === "running" ? "true" : null },
    element("p", { class: "role" }, roles[head.role] ?? head.role, vias[head.via] ? element("span", { class: "soft" }, ` ${vias[head.via]}`) : null, causes[head.cause] ? element("span", { class: "soft" }, ` because of ${causes[head.cause]}`) : null),
    element("div", { class: "blocks", "data-list": true }),
    head.attachments?.length ? element("ul", { class: "attachments" }, head.attachments.map((a) => element("li", null, element("span", { class: "tag" }, a.kind), a.name || a.path || a.url || a.mime || ""))) : null,
    footOf(head),
  );
  return drawShell(old, shell, message.blocks, head.role === "user" ? drawUserBlock : drawBlock);
}

// drawUserBlock shows what the user wrote as it is, not as Markdown.
function drawUserBlock(block, old) {
  if (block.data.kind !== "text") return drawBlock(block, old);
  return drawShell(old, element("p", { class: "text plain" }, block.text), [], drawBlock);
}

function drawFacts(chat) {
  const { head } = chat;
  const context = head.usage?.context;
  const used = context?.window ? Math.round((100 * context.used) / context.window) : null;
  return element(
    "div", { id: "facts" },
    [head.runtime, head.model, head.mode && `mode ${head.mode}`, head.cwd].filter(Boolean).map((t) => element("span", { class: "tag" }, t)),
    head.usage?.cost ? element("span", { class: "tag" }, `$${head.usage.cost.toFixed(head.usage.cost < 0.1 ? 4 : 2)}`) : null,
    used === null ? null : element("label", { class: "context" }, `context ${used} %`, element("meter", { min: 0, max: 100, value: used, high: 80 })),
  );
}

const busyKinds = new Set(["tool", "text", "thinking", "compacting", "retrying", "working", "background"]);

function drawSurfaces(chat) {
  const tasks = chat.tasks.map((t) => element(
    "li", { "data-status": t.status }, element("span", { class: "name" }, t.name || t.id), " ", element("span", { class: `state state-${t.status}` }, statusLabel(t.status) || t.status), t.text ? element("small", null, t.text) : null,
  ));
  return element(
    "aside", { id: "surfaces", "aria-label": "Tasks and components", hidden: tasks.length === 0 && chat.components.length === 0 },
    tasks.length > 0 ? [element("h2", null, "Tasks"), element("ul", { class: "tasks" }, tasks)] : null,
    chat.components.map((c) => componentView(c, c.status)),
  );
}

// drawChat makes the page show a chat. root holds the parts of the page by id.
export function drawChat(root, chat) {
  const part = (id) => root.querySelector(`#${id}`);
  drawList(part("messages"), chat.messages, drawMessage);
  morph(part("facts"), drawFacts(chat));
  morph(part("surfaces"), drawSurfaces(chat));
  const doing = chat.head.doing ?? { kind: "idle", label: "" };
  morph(part("doing"), element("span", { id: "doing", role: "status", "data-kind": doing.kind, class: busyKinds.has(doing.kind) ? "busy" : null }, doing.label));
  const queued = chat.head.queue?.length ?? 0;
  part("queue").textContent = queued === 0 ? "" : queued === 1 ? "1 message is queued" : `${queued} messages are queued`;
  part("older").hidden = !chat.head.older;
}
