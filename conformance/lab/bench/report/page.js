// Draws the report from its data: texts, plots whose positions are known, and tables.

// el makes an element: el("p", {class: "x"}, "text", child, [children]).
function el(name, props, ...children) {
  const svg = ["svg", "g", "line", "path", "text"].includes(name);
  const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [k, v] of Object.entries(props || {})) e.setAttribute(k, v);
  for (const c of children.flat(9)) e.append(c);
  return e;
}

function line(x1, x2, y1, y2) { return el("line", { x1, x2, y1, y2, stroke: "var(--line)" }); }

function drawPlot(p) {
  return el("figure", {}, el("figcaption", {}, p.title),
    el("svg", { viewBox: `0 0 ${p.width} ${p.height}`, width: p.width, height: p.height, role: "img", "aria-label": p.title },
      p.x_ticks.map((t) => [line(t.at, t.at, p.top, p.bottom), el("text", { x: t.at, y: p.bottom, dy: 14, "text-anchor": "middle" }, t.text)]),
      p.y_ticks.map((t) => [line(p.left, p.right, t.at, t.at), el("text", { x: p.left, y: t.at, dx: -6, dy: 4, "text-anchor": "end" }, t.text)]),
      el("text", { x: p.left, y: p.height, dy: -4 }, p.x),
      p.lines.map((l) => [el("path", { d: l.path, fill: "none", stroke: l.color, "stroke-width": 2 }),
        el("text", { x: p.right + 8, y: l.label_y, dy: 4, style: "fill:" + l.color }, l.name)])));
}

function drawTable(t) {
  const row = (cell, texts) => el("tr", {}, texts.map((text) => el(cell, {}, text)));
  return [t.title ? el("h3", {}, t.title) : [], el("table", {}, row("th", t.head), t.rows.map((texts) => row("td", texts)))];
}

const data = JSON.parse(document.getElementById("data").textContent);
document.body.append(el("h1", {}, "Turnspec benchmark"),
  el("p", {}, data.about, " Played: ", data.cases.map((c, i) => [i ? ", " : "", el("code", {}, c)]),
    ". Ratios hold from machine to machine; absolute figures are this machine's."),
  ...(data.gates ? [el("pre", {}, data.gates)] : []),
  ...data.notes.map((note) => el("p", {}, "Note: " + note)),
  el("h2", {}, "Plots"), ...data.plots.map(drawPlot),
  el("h2", {}, "Ratios to the controls"), ...data.ratios.map(drawTable).flat(),
  el("h2", {}, "Absolute figures, of this machine only"), el("p", {}, data.machine), ...drawTable(data.absolute).flat());
