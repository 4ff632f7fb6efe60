// Markdown as elements. markdown-it parses it to tokens; HTML in it is text. The page draws
// only the elements below, and links to http, https and mailto.

import { element, drawShell, morph } from "./dom.js";

const parser = globalThis.markdownit({ html: false, linkify: true }).disable("image");
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
const isSafeLink = (url) => /^(?:https?:|mailto:)/i.test(url);
parser.validateLink = (url) => isSafeLink(url.trim());

// tags are the elements of Markdown. Headings of a text are below those of the page.
const tags = new Map(
  ["p", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "s", "a", "hr", "br", "h6"].map((t) => [t, t]),
);
for (const [from, to] of [["h1", "h3"], ["h2", "h4"], ["h3", "h5"], ["h4", "h6"], ["h5", "h6"]]) tags.set(from, to);

function openElement(token) {
  const tag = tags.get(token.tag) ?? "span";
  const attributes = {};
  if (tag === "a" && isSafeLink(token.attrGet("href") ?? "")) {
    Object.assign(attributes, { href: token.attrGet("href"), target: "_blank", rel: "noopener noreferrer nofollow" });
  }
  if (tag === "ol" && token.attrGet("start")) attributes.start = token.attrGet("start");
  const align = /text-align:(\w+)/.exec(token.attrGet("style") ?? "");
  if (align) attributes.class = `align-${align[1]}`;
  return element(tag, attributes);
}

// drawTokens appends the elements of tokens to a parent.
function drawTokens(tokens, parent) {
  const open = [parent];
  for (const t of tokens) {
    const top = open[open.length - 1];
    if (t.type === "inline") drawTokens(t.children, top);
    else if (t.type === "softbreak") top.append("\n");
    else if (t.type === "code_inline") top.append(element("code", null, t.content));
    else if (t.type === "fence" || t.type === "code_block") top.append(drawCode(t));
    else if (t.hidden) continue; // a paragraph of a tight list
    else if (t.nesting > 0) {
      const el = openElement(t);
      top.append(el);
      open.push(el);
    } else if (t.nesting < 0) open.pop();
    else if (t.tag && tags.has(t.tag)) top.append(openElement(t));
    else top.append(t.content);
  }
}

function drawCode(token) {
  const language = (token.info ?? "").trim().split(/\s+/)[0];
  return element("pre", { tabindex: 0, role: "group", "aria-label": language ? `Code: ${language}` : "Code", "data-language": language || null }, element("code", null, token.content));
}

// chunksOf returns the top-level parts of a text. A part that is equal to that of the
// previous text is the same object. What a link refers to may follow it, so a text with
// other references has no part in common.
function chunksOf(text, previous) {
  const env = {};
  const tokens = parser.parse(text, env);
  const references = JSON.stringify(env.references ?? {});
  const lines = text.split("\n");
  const chunks = [];
  let part = [];
  for (const t of tokens) {
    part.push(t);
    if (t.level > 0 || t.nesting > 0) continue;
    const [from, to] = part[0].map ?? [0, lines.length];
    const source = `${part[0].type} ${lines.slice(from, to).join("\n")}`;
    const old = previous?.chunks[chunks.length];
    if (old && old.source === source && previous.references === references) chunks.push(old);
    else chunks.push({ key: chunks.length, source, tokens: part });
    part = [];
  }
  return { chunks, references };
}

// parsed holds the parts that an element shows.
const parsed = new WeakMap();

// drawMarkdown returns an element that shows a Markdown text. old is the element that
// showed the text before it grew, if there is one.
export function drawMarkdown(text, attributes, old) {
  const next = chunksOf(text, old && parsed.get(old));
  const el = drawShell(old, element("div", { ...attributes, "data-list": true }), next.chunks, (chunk, was) => {
    const around = element("div", null);
    drawTokens(chunk.tokens, around);
    const part = around.firstChild ?? element("p", null);
    return was ? morph(was, part) : part;
  });
  parsed.set(el, next);
  return el;
}

// markdownOf returns a new element that shows a Markdown text, all of it.
export function markdownOf(text, attributes) {
  const el = element("div", attributes);
  drawTokens(parser.parse(text, {}), el);
  return el;
}
