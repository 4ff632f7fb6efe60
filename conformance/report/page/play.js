// One play: wire, events and chat on one axis of time.

const faultName = (f) => f.operator + (f.line ? " at line " + f.line : "");

function span(play) {
  let end = 1e6;
  for (const list of [play.steps, play.wire, play.events]) for (const x of list || []) end = Math.max(end, x.at_ns);
  for (const b of play.chat || []) end = Math.max(end, b.to_ns);
  return end * 1.02;
}

function faultTime(play) {
  if (!play.fault) return null;
  if (!play.fault.line) return 0;
  const l = (play.wire || []).find((w) => w.line >= play.fault.line) || (play.wire || []).at(-1);
  return l ? l.at_ns : 0;
}

const lane = (dir) => (["in", "out", "err"].includes(dir) ? dir : "out");

// marksOf are what the axis shows. bad holds the seqs and lines of problems.
function marksOf(play, bad) {
  const out = [];
  for (const a of play.steps || []) out.push({ lane: "step", from: a.at_ns, to: a.at_ns, title: `${a.verb} ${a.text || ""}${a.error ? ": " + a.error : ""}` });
  for (const w of play.wire || []) out.push({ lane: lane(w.dir), from: w.at_ns, to: w.at_ns, bad: bad.lines.has(w.line), title: `${w.dir} ${short(w.text || "", 200)}` });
  for (const e of play.events || []) out.push({ lane: "event", from: e.at_ns, to: e.at_ns, bad: bad.seqs.has(e.seq), title: `${e.seq} ${e.type} ${short(e.text || "", 200)}` });
  for (const b of play.chat || []) out.push({ lane: "chat", from: b.from_ns, to: b.to_ns, title: `${b.role} ${b.kind || ""} ${b.name || ""} ${short(b.text || "", 200)}` });
  return out;
}

const short = (s, n) => (s.length > n ? s.slice(0, n) + "…" : s);

// rowsOf lines up steps, wire, the events that came of each line, and the chat
// that began with them.
function rowsOf(play) {
  const rows = [];
  const steps = [...(play.steps || [])];
  const after = new Map(); // events by the number of lines played
  (play.events || []).forEach((e, i) => {
    const at = e.wire || 0;
    if (!after.has(at)) after.set(at, []);
    after.get(at).push({ ...e, index: i });
  });
  const chat = new Map();
  let rest = [];
  for (const b of play.chat || []) {
    if (b.event < 0) { rest.push(b); continue; }
    if (!chat.has(b.event)) chat.set(b.event, []);
    chat.get(b.event).push(b);
  }
  const add = (row) => {
    row.chat = row.events.flatMap((e) => chat.get(e.index) || []);
    rows.push(row);
  };
  const before = (at, strict) => {
    while (steps.length && (strict ? steps[0].at_ns < at : steps[0].at_ns <= at)) { const a = steps.shift(); add({ at: a.at_ns, step: a, events: [] }); }
  };
  for (const e of after.get(0) || []) { // before any line: after the step that caused it
    if (rows.length) before(e.at_ns, true); else if (steps.length) { const a = steps.shift(); add({ at: a.at_ns, step: a, events: [] }); before(e.at_ns, true); }
    add({ at: e.at_ns, events: [e] });
  }
  (play.wire || []).forEach((w, i) => {
    before(w.at_ns, w.dir !== "in" && w.dir !== "spawn");
    const own = after.get(i + 1) || [];
    const now = own.filter((e) => e.at_ns <= w.at_ns), later = own.filter((e) => e.at_ns > w.at_ns);
    add({ at: w.at_ns, wire: w, events: now });
    for (const e of later) { before(e.at_ns, false); add({ at: e.at_ns, events: [e] }); }
  });
  before(Infinity, false);
  for (const b of rest) { // no event has its id: it is placed by its time
    const at = rows.findIndex((r) => r.at > b.from_ns);
    rows.splice(at < 0 ? rows.length : at, 0, { at: b.from_ns, events: [], chat: [b] });
  }
  return rows;
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}

// folded shows the beginning of a text, or brief, and the whole text when it is opened.
function folded(head, text, size, brief) {
  const d = el("details", {}, el("summary", {}, head, " ", brief || el("code", {}, short(text || "", 300))));
  d.addEventListener("toggle", () => {
    if (d.open && d.children.length === 1) d.append(el("pre", {}, pretty(text || ""), size ? `\n(${size.toLocaleString()} bytes, cut)` : ""));
  });
  return d;
}

// fieldsOf lists the fields of a message by their paths, in its order.
function fieldsOf(v, path = "", out = new Map()) {
  if (v !== null && typeof v === "object" && Object.keys(v).length) for (const [k, x] of Object.entries(v)) fieldsOf(x, path ? path + "." + k : k, out);
  else out.set(path, JSON.stringify(v));
  return out;
}

// kindOf names the kind of a message by its discriminators, such as stream_event
// content_block_delta, or else by its members.
function kindOf(v) {
  const out = [];
  const visit = (x, depth) => {
    for (const k of ["type", "method", "subtype"]) if (typeof x[k] === "string") out.push(x[k]);
    if (depth < 3) for (const y of Object.values(x)) if (y && typeof y === "object" && !Array.isArray(y)) visit(y, depth + 1);
  };
  visit(v, 0);
  return out.join(" ") || Object.keys(v).join(" ");
}

const minor = /(^|\.)(uuid|session_id|id|[a-z_]*Id|[a-z]+_id|timestamp|ts)$/; // shown last

// compareLines sets brief on each wire line that is JSON: its kind and its fields, or if it
// is like an earlier one, what differs from that one.
function compareLines(wire) {
  const seen = new Map();
  for (const w of wire) {
    let v = null;
    try { v = JSON.parse(w.text || ""); } catch { /* cut, or no JSON */ }
    if (v === null || typeof v !== "object" || Array.isArray(v)) continue;
    const kind = kindOf(v), key = w.dir + " " + kind, now = fieldsOf(v), before = seen.get(key);
    seen.set(key, { line: w.line, fields: now });
    const label = el("span", { class: "kind" }, kind.split(" ").slice(-2).join(" "), "  ");
    let changes = [...now].filter(([k, x]) => (before ? before.fields.get(k) !== x : !/(^|\.)(type|method|subtype)$/.test(k)));
    const gone = before ? [...before.fields.keys()].filter((k) => !now.has(k)) : [];
    changes.sort((a, b) => minor.test(a[0]) - minor.test(b[0]));
    const name = (k) => k.split(".").slice(-2).join(".");
    const shown = changes.slice(0, 6).map(([k, x]) => el("span", { class: minor.test(k) ? "minor" : null, title: k }, el("span", { class: "field" }, name(k) + ": "), short(x, minor.test(k) ? 16 : 120), "  "));
    if (changes.length > 6) shown.push(el("span", { class: "soft" }, `and ${changes.length - 6} more  `));
    if (gone.length) shown.push(el("span", { class: "soft" }, "without " + gone.slice(0, 3).map(name).join(", ")));
    if (before && !shown.length) shown.push(el("span", { class: "soft" }, `the same as line ${before.line || "before"}  `));
    w.brief = el("code", { class: before ? "differs" : null, title: before ? `what differs from line ${before.line || "before"}` : null }, before && changes.some(([k]) => !minor.test(k)) ? [shown, label] : [label, shown]);
  }
}

function rowOf(row, play, bad) {
  const isBad = (row.wire && bad.lines.has(row.wire.line)) || row.events.some((e) => bad.seqs.has(e.seq));
  const isFault = row.wire && play.fault && (!row.wire.line || row.wire.line === play.fault.line); // a line that the fault added has no number
  const wire = row.wire
    ? el("div", {}, isFault ? el("span", { class: "tag" }, "fault: " + play.fault.operator) : "",
      row.wire.text ? folded([el("span", { class: "dir " + row.wire.dir }, row.wire.dir), " ", el("span", { class: "soft" }, row.wire.line || "")], row.wire.text, row.wire.size, row.wire.brief?.cloneNode(true))
        : el("span", {}, el("span", { class: "dir" }, row.wire.dir), " ", el("span", { class: "soft" }, row.wire.line || "")))
    : row.step ? el("div", {}, el("span", { class: "dir step" }, row.step.verb), " ", row.step.text || "", row.step.error ? el("span", { class: "failed" }, " " + row.step.error) : "")
      : el("div", {});
  return el("div", { class: "row" + (isBad ? " bad" : "") + (isFault ? " fault" : "") },
    el("div", { class: "time mono" }, seconds(row.at)), wire,
    el("div", {}, row.events.map((e) => folded([el("span", { class: "soft" }, e.seq), " ", el("span", { class: "type" }, e.type), e.turn ? el("span", { class: "soft" }, " turn " + e.turn) : "", e.subagent ? el("span", { class: "soft" }, " " + e.subagent) : ""], e.text, e.size))),
    el("div", {}, (row.chat || []).map((b) => el("div", { class: "bubble " + b.role, style: b.depth ? `margin-left:${b.depth}rem` : null },
      el("span", { class: "soft" }, [b.role === "user" ? "user" : b.kind, b.name, b.status].filter(Boolean).join(" · ") + "\n"), b.text || ""))));
}

const chunk = 300; // number of rows to draw at once

// drawPlay draws a play and marks its problems.
function drawPlay(play, problems) {
  const bad = { seqs: new Set(problems.filter((p) => p.event).map((p) => p.event)), lines: new Set(problems.filter((p) => p.line && !p.event).map((p) => p.line)) };
  const view = { from: 0, to: span(play) };
  compareLines(play.wire || []);
  const all = rowsOf(play);
  const list = el("div", { class: "play", role: "group", "aria-label": "Wire, events and chat" });
  let pending = 0;
  function rows() {
    const inside = all.filter((r) => r.at >= view.from && r.at <= view.to);
    label.textContent = `${seconds(view.from)} to ${seconds(view.to)}: ${inside.length} of ${all.length} rows`;
    list.replaceChildren(el("div", { class: "row head" }, el("div", { class: "time" }, "time"), el("div", {}, "wire"), el("div", {}, "events"), el("div", {}, "chat")));
    let at = 0;
    const more = el("button", { type: "button", onclick: () => next() });
    function next() {
      more.remove();
      list.append(...inside.slice(at, at + chunk).map((r) => rowOf(r, play, bad)));
      at += chunk;
      if (at < inside.length) { more.textContent = `${inside.length - at} rows more`; list.append(more); }
    }
    next();
    // Draw as far as the last problem, so that the page can scroll to it.
    const last = inside.findLastIndex((r) => (r.wire && bad.lines.has(r.wire.line)) || r.events.some((e) => bad.seqs.has(e.seq)));
    while (at <= last) next();
  }
  const time = axis(play, view, bad, () => { cancelAnimationFrame(pending); pending = requestAnimationFrame(rows); });
  const label = time.querySelector("#window");
  rows();
  return el("div", {}, time,
    play.hang ? el("p", { class: "failed" }, "The run hung: " + play.hang) : "",
    ...(play.programs || []).map((p) => el("p", {}, `The program ended: ${p.exit || "unknown"}. `, p.stderr ? el("pre", {}, p.stderr) : "It wrote nothing to stderr.")),
    (play.unrecorded || []).map((u) => el("p", { class: "warn" }, "Unrecorded: " + u)),
    (play.violations || []).map((v) => el("p", { class: "warn" }, "Violation: " + v)), list);
}
