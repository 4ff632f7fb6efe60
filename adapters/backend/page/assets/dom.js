// Elements without HTML: text becomes text nodes, never markup.

// element returns an element with attributes and children. An attribute that is false,
// null or undefined is left out, and so is such a child.
export function element(tag, attributes, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== false && value !== null && value !== undefined) el.setAttribute(name, value === true ? "" : value);
  }
  append(el, children);
  return el;
}

function append(el, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(el, child);
    else if (child instanceof Node) el.append(child);
    else if (child !== null && child !== undefined && child !== false && child !== "") el.append(String(child));
  }
}

// toggled holds the details that the user opened or closed: morph leaves them so.
const toggled = new WeakSet();

// watchToggles remembers what the user opens and closes below an element.
export function watchToggles(root) {
  root.addEventListener("click", (e) => {
    const summary = e.target.closest("summary");
    if (summary) toggled.add(summary.parentElement);
  });
}

// morph makes an element equal to a new one, and keeps what is equal: focus, selection,
// scroll positions and what was typed stay. It returns the element in the document. The
// children of an element with the attribute data-list are left to drawList.
export function morph(old, next) {
  if (old.nodeName !== next.nodeName) {
    old.replaceWith(next);
    return next;
  }
  if (old.nodeType === Node.TEXT_NODE) {
    if (next.data.startsWith(old.data)) old.appendData(next.data.slice(old.data.length));
    else old.data = next.data;
    return old;
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !(name === "open" && toggled.has(old))) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !(name === "open" && toggled.has(old))) old.setAttribute(name, value);
  }
  if (next.hasAttribute("data-list")) return old;
  const wanted = [...next.childNodes];
  wanted.forEach((child, i) => {
    if (i < old.childNodes.length) morph(old.childNodes[i], child);
    else old.append(child);
  });
  while (old.childNodes.length > wanted.length) old.lastChild.remove();
  return old;
}

// shown holds the item that an element of a list shows.
const shown = new WeakMap();

// drawList makes the children of a container show items, in order. An item has a key; draw
// returns its element, given the one that showed the item with that key before, if there is
// one. An item that has not changed is not drawn.
export function drawList(container, items, draw) {
  const byKey = new Map();
  for (const el of [...container.childNodes]) {
    const item = shown.get(el);
    if (item) byKey.set(item.key, el);
    else el.remove();
  }
  let at = container.firstChild;
  for (const item of items) {
    const old = byKey.get(item.key);
    byKey.delete(item.key);
    let el = old;
    if (!old || shown.get(old) !== item) {
      el = draw(item, old);
      shown.set(el, item);
      if (old && old !== el && old.parentNode === container) old.replaceWith(el);
      if (old && old === at) at = el;
    }
    if (el === at) at = el.nextSibling;
    else container.insertBefore(el, at);
  }
  for (const el of byKey.values()) el.remove();
}

// drawShell makes an element equal to a new shell, and the list in it show its items.
export function drawShell(old, shell, items, draw) {
  const el = old ? morph(old, shell) : shell;
  const list = el.matches("[data-list]") ? el : el.querySelector("[data-list]");
  if (list) drawList(list, items, draw);
  return el;
}
