// The shell of each kind of block: an element without nested blocks, which go into its
// data-list. A shell depends on the block alone, and on whether the page is live.

import { element } from "./dom.js";
import { interruptForm, permissionForm } from "./forms.js";
import { mediaView, showsMedia } from "./media.js";

// longest is the longest text of an output that is drawn: the beginning and the end of a
// longer one.
const longest = 40000;

// labels are the states of blocks in words.
const labels = {
  writing: "writes its input", running: "running", ok: "done", failed: "failed", denied: "denied", interrupted: "interrupted", backgrounded: "in the background",
  complete: "done", stopped: "stopped", pending: "waits for you", allowed: "allowed", cancelled: "denied, and stopped",
  waiting: "waits for permission", withdrawn: "withdrawn", answered: "answered", loading: "loading", ready: "", error: "error", created: "created", restored: "restored",
};

export const statusLabel = (status) => labels[status] ?? status ?? "";

// scrolling returns a box with text that scrolls if it is long, also by keyboard.
export function scrolling(className, label, ...children) {
  return element("pre", { class: className, tabindex: 0, role: "group", "aria-label": label }, ...children);
}

export function shortened(text) {
  if (text.length <= longest) return text;
  const half = longest / 2;
  return `${text.slice(0, half)}\n… ${(text.length - longest).toLocaleString("en")} characters are left out here …\n${text.slice(-half)}`;
}

// valueView shows JSON: members as a list of terms, everything else as text.
export function valueView(value) {
  if (value === null || typeof value !== "object") return element("span", null, String(value));
  if (Array.isArray(value)) {
    return value.length === 0 ? element("span", { class: "soft" }, "none") : element("ul", null, value.map((v) => element("li", null, valueView(v))));
  }
  const members = Object.entries(value);
  if (members.length === 0) return element("span", { class: "soft" }, "nothing");
  return element("dl", { class: "value" }, members.map(([name, v]) => [element("dt", null, name), element("dd", null, valueView(v))]));
}

const isEmpty = (value) => value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

// summaryOf returns the head of a card that opens: icon, title, outcome, state.
function summaryOf(icon, title, outcome, status) {
  return element(
    "summary", null, element("span", { class: `icon icon-${icon}`, "aria-hidden": "true" }), element("span", { class: "name" }, title),
    outcome ? element("span", { class: "outcome" }, outcome) : null,
    element("span", { class: `state state-${status}` }, statusLabel(status)),
  );
}

function nestedList(block, label) {
  return block.blocks.length > 0 ? element("div", { class: "nested", role: "group", "aria-label": label, "data-list": true }) : null;
}

const changeNames = { add: "added", update: "changed", delete: "deleted", move: "moved" };

// diffView shows a changed file. The diff of an added or deleted file is its content.
function diffView(change) {
  const whole = { add: "+", delete: "-" }[change.kind];
  const lines = (change.diff ?? "").split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const drawn = shortened(lines.map((l) => (whole ? whole + l : l)).join("\n")).split("\n");
  const kind = (l) => (l.startsWith("@@") ? "hunk" : l.startsWith("+") ? "add" : l.startsWith("-") ? "del" : null);
  return element(
    "figure", { class: "change" },
    element("figcaption", null, element("code", null, change.path), change.move_to ? [" → ", element("code", null, change.move_to)] : null, ` ${changeNames[change.kind] ?? change.kind}`),
    change.diff ? scrolling("diff", `Changes of ${change.path}`, drawn.map((l) => element("span", { class: kind(l) }, `${l}\n`))) : null,
  );
}

// webView shows what is looked for on the web, or the page that is fetched.
function webView(tool) {
  if (tool.url) {
    const safe = /^https?:\/\//i.test(tool.url);
    return element(
      "p", { class: "web" }, safe ? element("a", { href: tool.url, target: "_blank", rel: "noopener noreferrer nofollow" }, tool.url) : element("code", null, tool.url),
      tool.pattern ? [" for ", element("q", null, tool.pattern)] : null,
    );
  }
  return element("p", { class: "web" }, element("q", null, tool.query));
}

// progressView shows what the runtime stated last about a tool that runs.
function progressView({ message, progress, total, elapsed_ms: elapsed }) {
  const counted = progress === undefined ? "" : total === undefined ? `${progress}` : `${progress} of ${total}`;
  const parts = [message, counted, elapsed ? `${Math.round(elapsed / 1000)} s` : ""].filter(Boolean);
  return element(
    "p", { class: "progress" }, total > 0 && progress !== undefined ? element("progress", { max: total, value: progress, "aria-label": "Progress" }) : null, parts.join(", "),
  );
}

function toolCard(block) {
  const { tool, summary, outcome, category } = block.data;
  const status = block.data.waits ? "waiting" : block.data.status;
  const writes = block.data.status === "writing";
  const runs = block.data.status === "running" || writes;
  const changes = tool.changes ?? [];
  const open = runs || status === "failed" || changes.length > 0 || block.blocks.length > 0 || showsMedia(tool.media);
  const shownOutcome = runs || outcome === statusLabel(status) || (status === "failed" && outcome === "failed") ? "" : outcome;
  const input = tool.url || tool.query ? webView(tool) : tool.command ? scrolling("command", "Command", `$ ${tool.command}`) : changes.length > 0 || isEmpty(tool.input) ? null : element("div", { class: "input" }, valueView(tool.input));
  return element(
    "details", { class: "card tool", "data-status": status, "data-category": category, open },
    summaryOf(category ?? "other", summary || "Tool", shownOutcome, status),
    element(
      "div", { class: "body" }, input, changes.map(diffView), tool.progress ? progressView(tool.progress) : null,
      block.text ? scrolling("output", writes ? "Input" : "Output", shortened(block.text)) : null,
      tool.truncated ? element("p", { class: "cut" }, "The output was cut.") : null,
      tool.media?.length > 0 ? mediaView(tool.media) : null,
      nestedList(block, "Work of this call"),
    ),
  );
}

function subagentCard(block) {
  const { subagent, status } = block.data;
  const tokens = subagent.usage?.total ? `${subagent.usage.total.toLocaleString("en")} tokens` : "";
  return element(
    "details", { class: "card subagent", "data-status": status, open: true },
    summaryOf("agent", `Agent ${subagent.name ?? ""}`.trim(), tokens, status),
    element("div", { class: "body" }, block.text ? element("p", { class: "task" }, block.text) : null, nestedList(block, `Work of agent ${subagent.name ?? ""}`.trim())),
  );
}

const marks = { pending: "○", in_progress: "◐", completed: "●" };

function planCard(block) {
  const steps = block.data.steps ?? [];
  const done = steps.filter((s) => s.status === "completed").length;
  return element(
    "section", { class: "card plan", "aria-label": "Plan" },
    element("p", { class: "head" }, element("span", { class: "icon icon-plan", "aria-hidden": "true" }), element("span", { class: "name" }, "Plan"), element("span", { class: "outcome" }, `${done} of ${steps.length} done`)),
    element("ol", null, steps.map((s) => element(
      "li", { "data-status": s.status, "aria-current": s.status === "in_progress" ? "step" : null },
      element("span", { class: "mark", "aria-hidden": "true" }, marks[s.status] ?? "○"), element("span", { class: "unseen" }, `${s.status.replace("_", " ")}: `), s.text,
    ))),
  );
}

// componentView shows a component: the page knows none by name, and shows what it holds.
export function componentView(component, status) {
  return element(
    "section", { class: "card component", "data-status": status, "aria-label": `Component ${component.name}` },
    element("p", { class: "head" }, element("span", { class: "icon icon-component", "aria-hidden": "true" }), element("span", { class: "name" }, component.name), element("span", { class: `state state-${status}` }, statusLabel(status))),
    component.error ? element("p", { class: "bad" }, component.error) : null,
    isEmpty(component.props) ? null : valueView(component.props),
  );
}

const line = (className, ...children) => element("p", { class: `line ${className}` }, ...children);

// shells are the kinds of blocks. Text is drawn by drawMarkdown.
export const shells = {
  thinking: (block) => element(
    "details", { class: "card thinking", "data-status": block.data.status },
    summaryOf("thinking", "Reasoning", "", block.data.status), element("div", { class: "body thought" }, block.text),
  ),
  tool: toolCard,
  subagent: subagentCard,
  permission: permissionForm,
  interrupt: interruptForm,
  plan: planCard,
  component: (block) => componentView(block.data.component, block.data.status),
  notice: (block) => line(`notice notice-${block.data.notice.level}`, element("span", { class: "name" }, block.data.notice.level), " ", block.text || block.data.notice.code.replaceAll("_", " ")),
  compaction: (block) => line("compaction", "History summarized", block.data.tokens ? ` to ${block.data.tokens.toLocaleString("en")} tokens` : "", block.data.status === "complete" ? "" : ` (${statusLabel(block.data.status)})`),
  checkpoint: (block) => line("checkpoint", "Checkpoint ", element("code", null, block.data.id ?? ""), ` ${statusLabel(block.data.status)}`),
  error: (block) => line("error", element("span", { class: "name" }, `Error: ${(block.data.error.code ?? "").replaceAll("_", " ")}`), block.data.error.message ? element("span", { class: "detail" }, block.data.error.message) : null),
};

// asideCard shows an event that no card above is made for: its type, and its data.
export function asideCard(block) {
  const name = block.data.kind.replaceAll("_", " ");
  let data = block.text;
  try {
    data = JSON.parse(block.text);
  } catch {
    // it is shown as it is
  }
  return element(
    "section", { class: "card aside", "aria-label": name }, element("p", { class: "head" }, element("span", { class: "name" }, name)),
    isEmpty(data) ? null : valueView(data), nestedList(block, name),
  );
}
