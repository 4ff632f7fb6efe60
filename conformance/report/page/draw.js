// Functions that draw from data alone: elements, diffs, the time axis.

const $ = (id) => document.getElementById(id);

// el makes an element: el("p", {class: "x", onclick: f}, "text", child, [children]).
function el(name, props, ...children) {
  const svg = ["svg", "g", "line", "rect", "text", "title"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === undefined || v === null || v === false) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat(9)) if (c !== undefined && c !== null && c !== "") e.append(c);
  return e;
}

// seconds formats nanoseconds.
function seconds(ns) {
  if (ns === 0) return "0";
  if (ns < 1e6) return (ns / 1e3).toPrecision(3).replace(/\.?0+$/, "") + " µs";
  if (ns < 1e9) return (ns / 1e6).toFixed(ns < 1e8 ? 2 : 1).replace(/\.?0+$/, "") + " ms";
  return (ns / 1e9).toFixed(3).replace(/\.?0+$/, "") + " s";
}

// diff shows a diff. In a replaced line it marks the part that differs.
function diff(text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const out = [];
  const plain = (l) => el("div", { class: l[0] === "+" ? "add" : l[0] === "-" ? "del" : l.startsWith("@@") ? "hunk" : null }, l || " ");
  for (let i = 0; i < lines.length; i++) {
    if (lines[i] === "--- want" && lines[i + 1] === "+++ got") {
      out.push(el("div", { class: "hunk" }, "- expected  + got"));
      i += lines[i + 2] === "@@ -1 +1 @@" ? 2 : 1; // the place of a difference of one line
      continue;
    }
    if (/^(---|\+\+\+) /.test(lines[i])) { out.push(el("div", { class: "hunk" }, lines[i])); continue; }
    const from = i;
    while (i < lines.length && lines[i][0] === "-") i++;
    const mid = i;
    while (i < lines.length && lines[i][0] === "+") i++;
    if (i === from) { out.push(plain(lines[i])); continue; }
    const olds = lines.slice(from, mid), news = lines.slice(mid, i);
    const marked = olds.map((o, k) => (k < news.length ? changed(o.slice(1), news[k].slice(1)) : null));
    olds.forEach((o, k) => out.push(marked[k] ? el("div", { class: "del" }, "-", marked[k][0]) : plain(o)));
    news.forEach((n, k) => out.push(marked[k] ? el("div", { class: "add" }, "+", marked[k][1]) : plain(n)));
    i--;
  }
  return el("div", { class: "diff mono" }, out);
}

// changed marks the text between the common prefix and the common suffix.
function changed(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const part = (s, tag) => [s.slice(0, head), s.length > head + tail ? el(tag, {}, s.slice(head, s.length - tail)) : "", s.slice(s.length - tail)];
  return [part(a, "del"), part(b, "ins")];
}

const lanes = ["step", "in", "out", "err", "event", "chat"];

// axis draws a play over time. view is {from, to}; changed is called when it has
// changed.
function axis(play, view, bad, changed) {
  const end = span(play);
  const step = 22, left = 48, top = 18;
  const marks = marksOf(play, bad);
  const used = lanes.filter((l) => marks.some((m) => m.lane === l));
  const height = top + used.length * step + 8;
  const svg = el("svg", { role: "img", tabindex: "0", height, "aria-label": "Time axis: plus and minus zoom, 0 shows all, arrows move" });
  const width = () => Math.max(svg.clientWidth || svg.parentNode?.clientWidth || 0, 200);
  const x = (t) => left + ((t - view.from) / (view.to - view.from)) * (width() - left - 8);
  function draw() {
    const w = width();
    svg.setAttribute("viewBox", `0 0 ${w} ${height}`);
    const out = [];
    for (const t of ticks(view, Math.max(2, Math.floor(w / 130)))) {
      out.push(el("line", { class: "grid", x1: x(t), x2: x(t), y1: top - 4, y2: height }), el("text", { x: x(t) + 3, y: 11 }, seconds(t)));
    }
    used.forEach((l, i) => out.push(el("text", { x: 2, y: top + i * step + 14 }, l)));
    for (const m of marks) {
      if (m.to < view.from || m.from > view.to) continue;
      const a = Math.max(x(m.from), left), b = Math.min(x(m.to), w);
      const y = top + used.indexOf(m.lane) * step + 3;
      out.push(el("rect", { class: "m-" + m.lane, x: m.to > m.from ? a : a - 1.5, y, width: Math.max(b - a, 3), height: step - 8, rx: 1.5, "fill-opacity": m.to > m.from ? 0.6 : 0.9 },
        el("title", {}, m.title)));
      if (m.bad) out.push(el("rect", { class: "at", x: a - 2.5, y: y - 4, width: 6, height: 4 }, el("title", {}, "a problem shows here")));
    }
    const f = faultTime(play);
    if (f !== null && f >= view.from && f <= view.to) {
      out.push(el("line", { class: "fault", x1: x(f), x2: x(f), y1: top - 4, y2: height }, el("title", {}, "fault: " + faultName(play.fault))));
    }
    svg.replaceChildren(...out);
  }
  const set = (from, to) => {
    const wide = Math.min(Math.max(to - from, 1e3), end);
    view.from = Math.max(0, Math.min(from, end - wide));
    view.to = view.from + wide;
    draw();
    changed();
  };
  const zoom = (by, at = (view.from + view.to) / 2) => set(at - (at - view.from) * by, at + (view.to - at) * by);
  const move = (by) => { const d = (view.to - view.from) * by; set(view.from + d, view.to + d); };
  svg.addEventListener("keydown", (e) => {
    const act = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => set(0, end), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25) }[e.key];
    if (act && !e.ctrlKey && !e.metaKey) { e.preventDefault(); act(); }
  });
  const timeAt = (e) => view.from + ((e.clientX - svg.getBoundingClientRect().left - left) / (width() - left - 8)) * (view.to - view.from);
  svg.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // then it scrolls the page
    e.preventDefault();
    zoom(e.deltaY < 0 ? 0.8 : 1.25, timeAt(e));
  }, { passive: false });
  let drag = null;
  svg.addEventListener("pointerdown", (e) => { drag = { x: e.clientX, from: view.from, to: view.to }; svg.setPointerCapture(e.pointerId); });
  svg.addEventListener("pointermove", (e) => {
    if (!drag) return;
    const d = ((e.clientX - drag.x) / (width() - left - 8)) * (drag.to - drag.from);
    set(drag.from - d, drag.to - d);
  });
  svg.addEventListener("pointerup", () => { drag = null; });
  svg.addEventListener("pointercancel", () => { drag = null; });
  svg.addEventListener("dblclick", (e) => zoom(0.5, timeAt(e)));
  draw(); // now, and again when it has a width
  new ResizeObserver(draw).observe(svg);
  const button = (label, title, act) => el("button", { type: "button", title, "aria-label": title, onclick: act }, label);
  return el("div", {},
    el("div", { class: "axis" }, svg),
    el("div", { class: "zoom" }, button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
      button("←", "Earlier", () => move(-0.25)), button("→", "Later", () => move(0.25)), button("All", "Show all", () => set(0, end)),
      el("span", { class: "soft", id: "window" })));
}

function ticks(view, n) {
  const rough = (view.to - view.from) / n;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= rough);
  const out = [];
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) out.push(t);
  return out;
}
