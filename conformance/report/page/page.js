// The page: a list of cases, and the details of the chosen one.

const index = JSON.parse($("index").textContent);
const words = { F: "failed", H: "harness error", L: "flaky", l: "flaky", w: "warning", k: "known to fail", u: "unrecorded", x: "not expressible", t: "not tried", p: "passed", s: "sent", ".": "not applicable" };
const worst = "HFLlkwuspxt."; // a case in which a check passed was judged
const marks = { F: "✗", H: "✗", L: "≈", l: "≈", w: "!", k: "~", u: "○", x: "–", t: "○", p: "✓", s: "✓", ".": "·" };
const wordOf = (l) => index.words[l] || words[l]; // of a summary; words are the verdicts themselves
const isBad = (l) => "FHLlkw".includes(l);
const tones = { F: "failed", H: "failed", L: "failed", l: "warn", w: "warn", k: "warn", p: "passed", s: "passed" };

const columnName = (c) => index.rules[c.rule].id + (index.columns.filter((o) => o.rule === c.rule).length > 1 ? ` [${c.tier}]` : "");
for (const r of index.rows) r.worst = [...worst].find((l) => r.verdicts.includes(l)) || ".";
for (const r of index.rows) [r.runtime, r.version, r.topic] = r.case.split("/");
for (const r of index.rows) { // what the text search sees
  const failed = index.columns.filter((_, i) => isBad(r.verdicts[i])).map((c) => index.rules[c.rule].id);
  r.text = [r.case, index.subjects[r.subject], ...failed, r.problems || ""].join(" ").toLowerCase();
}
const idOf = (r) => r.case + (index.subjects.length > 1 ? " · " + index.subjects[r.subject] : "");

// detail reads the details of a row.
async function detail(row) {
  if (!row.detail) return { entries: [], plays: [] };
  const bytes = Uint8Array.from(atob($("d" + row.detail).textContent), (c) => c.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  return { entries: text.entries || [], plays: text.plays || [] };
}

// The hash holds the whole selection, so that a link shows the same place.
const state = () => new URLSearchParams(location.hash.slice(1));
function go(changes) {
  const s = state();
  for (const [k, v] of Object.entries(changes)) v === "" || v === null ? s.delete(k) : s.set(k, v);
  location.hash = s.toString();
}

const filters = ["find", "show", "check", "topic", "runtime", "tier"];

// wanted returns the rows that all filters let pass. Verdict, check and tier must hold of
// the same verdict of a row.
function wanted() {
  const s = Object.fromEntries(filters.map((f) => [f, state().get(f) || ""]));
  const find = s.find.toLowerCase().split(/\s+/).filter(Boolean);
  const cols = index.columns.map((c, i) => ((!s.check || index.rules[c.rule].id === s.check) && (!s.tier || c.tier === s.tier) ? i : -1)).filter((i) => i >= 0);
  const whole = cols.length === index.columns.length;
  return index.rows.filter((r) => {
    if (find.some((word) => !r.text.includes(word))) return false;
    if (s.topic && r.topic !== s.topic) return false;
    if (s.runtime && r.runtime !== s.runtime && r.runtime + "/" + r.version !== s.runtime) return false;
    const letters = cols.map((i) => r.verdicts[i]);
    if (s.show) return letters.some((l) => l !== " " && wordOf(l) === wordOf(s.show));
    return whole || letters.some((l) => l !== "." && l !== " ");
  });
}

let listed = [];
function drawList() {
  listed = wanted();
  const current = state().get("case");
  $("listed").textContent = `${listed.length} of ${index.rows.length} cases`;
  $("reset").hidden = !filters.some((f) => state().get(f));
  $("cases").replaceChildren(...listed.map((r) => {
    const parts = r.case.split("/");
    const s = state();
    s.set("case", idOf(r));
    return el("li", {}, el("a", { href: "#" + s, title: r.took_ns ? "took " + seconds(r.took_ns) : null, "aria-current": idOf(r) === current ? "true" : null },
      el("span", { class: tones[r.worst] || "soft", title: wordOf(r.worst) }, el("span", { "aria-hidden": "true" }, marks[r.worst]), el("span", { class: "unseen" }, wordOf(r.worst))),
      el("span", { class: "name" }, parts.slice(-2).join("/"), el("small", {}, parts.slice(0, -2).join(" ") + (index.subjects[r.subject] === parts[0] || index.subjects.length === 1 ? "" : " · " + index.subjects[r.subject]))),
      el("span", { class: "took" }, r.took_ns >= 1e9 ? (r.took_ns / 1e9).toFixed(1) + " s" : "")));
  }));
  const at = $("cases").querySelector("[aria-current]");
  if (at) { // scroll the list only, not the page
    const list = $("cases").getBoundingClientRect(), own = at.getBoundingClientRect();
    if (own.top < list.top || own.bottom > list.bottom) $("cases").scrollTop += own.top - list.top - list.height / 3;
  }
}

// copy shows a command with a button that copies it. Without a clipboard the button
// selects the command.
function copy(text) {
  const code = el("code", {}, text);
  const b = el("button", { type: "button", "aria-label": "Copy the command that runs this again", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      b.textContent = "copied";
    } catch {
      getSelection().selectAllChildren(code);
      b.textContent = "selected: Ctrl+C";
    }
  } }, "copy");
  return el("p", { class: "rerun" }, code, b);
}

const sameFault = (a, b) => (a || b ? a && b && a.operator === b.operator && a.place === b.place : true);

function drawEntry(e, plays, choose) {
  const rule = index.rules.find((r) => r.id === e.check) || {};
  const kind = e.known ? "known" : e.severity === "SHOULD" ? "warning" : e.verdict === "flaky" ? "flaky" : "";
  return el("section", { class: "problem " + kind, tabindex: "-1", "aria-label": e.check, "data-check": e.check },
    el("p", {}, el("strong", { class: kind ? "warn" : "failed" }, e.verdict), " ", el("code", {}, e.check), " ", el("span", { class: "soft" }, "[" + e.tier + "]" + (kind && kind !== "flaky" ? " " + kind : "")),
      el("a", { class: "link", href: "#" + new URLSearchParams({ case: state().get("case"), check: e.check }), "aria-label": "Link to " + e.check, title: "Link to this check of this case" }, " #")),
    el("p", {}, rule.sentence || ""),
    e.known ? el("p", { class: "warn" }, "Known: " + e.known.reason, e.known.link ? [" ", /^https?:/.test(e.known.link) ? el("a", { href: e.known.link }, e.known.link) : e.known.link] : "") : "",
    e.reason ? el("p", {}, e.reason) : "",
    el("ul", {}, (e.problems || []).slice(0, 20).map((p) => el("li", {}, p.text.split("\n")[0], p.text.includes("\n") ? el("pre", {}, p.text.slice(p.text.indexOf("\n") + 1)) : "",
      (p.event || p.line || p.fault) && plays.some((x) => sameFault(x.fault, p.fault)) ? [" ", el("button", { type: "button", onclick: () => choose(p, true) }, "show")] : "",
      p.diff ? diff(p.diff) : ""))),
    (e.problems || []).length > 20 ? el("p", { class: "soft" }, `and ${e.problems.length - 20} more`) : "",
    e.rerun ? copy(e.rerun) : "");
}

// drawGroup shows a failure and, folded, the ones that follow it in the same run.
function drawGroup(e, followers, plays, choose) {
  const own = drawEntry(e, plays, choose);
  if (followers.length) {
    own.append(el("details", { class: "follows" }, el("summary", {}, `follows: ${followers.length} ${followers.length > 1 ? "checks" : "check"} failed later in the same run`),
      followers.map((f) => drawEntry(f, plays, choose))));
  }
  return own;
}

async function drawCase(row) {
  const main = $("main");
  main.replaceChildren(el("p", { class: "soft" }, "…"));
  const d = await detail(row);
  if (state().get("case") !== idOf(row)) return; // another case was chosen in the meantime
  const plain = d.plays.find((p) => !p.fault) || d.plays[0];
  const problems = d.entries.flatMap((e) => e.problems || []);
  const stage = el("div", { id: "play" });
  const tabs = d.plays.map((p, i) => el("button", { type: "button", role: "tab", "aria-selected": "false", onclick: () => choose(i) }, p.fault ? "fault: " + faultName(p.fault) : "as recorded"));
  function choose(which, move) {
    const i = typeof which === "number" ? which : Math.max(0, d.plays.findIndex((p) => sameFault(p.fault, which.fault)));
    tabs.forEach((t, k) => t.setAttribute("aria-selected", String(k === i)));
    const own = typeof which === "number" ? problems.filter((p) => sameFault(p.fault, d.plays[i].fault)) : [which];
    stage.replaceChildren(drawPlay(d.plays[i], own));
    if (move) requestAnimationFrame(() => requestAnimationFrame(() => (stage.querySelector(".row.bad, .row.fault") || stage).scrollIntoView({ block: "center" })));
  }
  const judged = index.columns.map((c, i) => [c, row.verdicts[i]]).filter(([, l]) => l !== "." && l !== " ");
  main.replaceChildren(...[
    el("a", { class: "back", href: "#" + without("case") }, "← all cases"),
    el("h2", {}, row.case), index.subjects.length > 1 ? el("p", { class: "soft" }, index.subjects[row.subject]) : "",
    plain ? el("p", {}, plain.intent || "", el("br"), el("span", { class: "soft mono" }, [plain.file, plain.scenario].filter(Boolean).join(" · "))) : "",
    row.took_ns ? el("p", { class: "soft" }, "Took " + (row.times || seconds(row.took_ns))) : "",
    d.entries.filter((e) => !e.follows).map((e) => drawGroup(e, d.entries.filter((f) => f.follows === e.check), d.plays, choose)),
    d.plays.length ? [el("h3", {}, "Wire, events and chat"), d.plays.length > 1 ? el("div", { class: "tabs", role: "tablist", "aria-label": "Plays" }, tabs) : "", stage]
      : el("p", { class: "soft" }, "The wire and events of a case that did not fail are in the report only if the run had --runs."),
    el("h3", {}, "Checks"),
    el("ul", { class: "checks" }, judged.map(([c, l]) => el("li", { class: tones[l] || "soft", "data-check": isBad(l) ? null : index.rules[c.rule].id }, marks[l] + " ", el("code", {}, columnName(c)), l === "p" ? "" : " " + words[l]))),
  ].flat(9).filter((x) => x !== ""));
  // Show the first play that has a problem of the check in the link, or of any.
  const own = d.entries.filter((e) => e.check === state().get("check")).flatMap((e) => e.problems || []);
  if (d.plays.length) choose(Math.max(0, d.plays.findIndex((x) => (own.length ? own : problems).some((p) => sameFault(x.fault, p.fault)))));
  showCheck();
}

// showCheck scrolls to the check that the link names, and marks it.
function showCheck() {
  const check = state().get("check");
  document.querySelectorAll(".chosen").forEach((e) => e.classList.remove("chosen"));
  const found = check && [...document.querySelectorAll("#main [data-check]")].find((e) => e.dataset.check === check);
  if (!found) return;
  for (let e = found.parentElement; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true; // a follow-on failure is folded
  found.classList.add("chosen");
  found.scrollIntoView({ block: "nearest" });
}

const without = (...keys) => { const s = state(); keys.forEach((k) => s.delete(k)); return s.toString(); };

// drawFailure shows a check with its simplest failure.
function drawFailure(g) {
  const rule = index.rules.find((r) => r.id === g.check) || {}, kind = g.label === "FAIL" ? "" : g.label.toLowerCase();
  const at = { case: idOf({ case: g.case, subject: g.subject }), check: g.check };
  const line = (name, text) => (text ? [el("dt", {}, name), el("dd", {}, text)] : "");
  return el("section", { class: "problem " + kind, tabindex: "-1", "aria-label": g.check },
    el("p", {}, el("strong", { class: kind ? "warn" : "failed" }, g.label), " ", el("code", {}, g.check), " ",
      el("a", { href: "#" + new URLSearchParams({ check: g.check, show: { FLAKY: "l", WARNING: "w" }[g.label] || "F" }) }, `${g.failed} of ${g.judged} cases`),
      index.subjects.length > 1 ? el("span", { class: "soft" }, " " + index.subjects[g.subject]) : ""),
    el("p", {}, rule.sentence || ""),
    el("dl", {}, line("case", el("a", { href: "#" + new URLSearchParams(at) }, g.case)), line("fault", g.fault), line("problem", g.problem),
      line("expected", g.expected && el("code", {}, g.expected)), line("got", g.got && el("code", {}, g.got)),
      line("or", g.declare && "declare that the adapter leaves it out: " + g.declare)),
    copy(g.rerun));
}

function drawSummary() {
  const table = el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "check"), index.subjects.map((s) => el("th", {}, s)))));
  const body = el("tbody");
  const score = (i) => index.rows.reduce((n, r) => n + (isBad(r.verdicts[i]) ? 1 : 0), 0);
  const place = (c) => { const i = (index.failures || []).findIndex((g) => g.check === index.rules[c.rule].id); return i < 0 ? Infinity : i; };
  const order = index.columns.map((c, i) => [c, i, score(i)]).sort((a, b) => (place(a[0]) === place(b[0]) ? b[2] - a[2] || a[1] - b[1] : place(a[0]) - place(b[0])));
  for (const [c, i] of order) {
    const cells = index.subjects.map((_, s) => {
      const n = {};
      for (const r of index.rows) if (r.subject === s) n[r.verdicts[i]] = (n[r.verdicts[i]] || 0) + 1;
      const parts = [], sum = {};
      for (const l of worst) if (n[l] && l !== ".") sum[wordOf(l)] = (sum[wordOf(l)] || 0) + n[l];
      for (const [word, count] of Object.entries(sum)) {
        const l = [...worst].find((x) => n[x] && wordOf(x) === word), text = `${count} ${word}`;
        parts.push("FHLl".includes(l) ? el("a", { class: tones[l], href: "#" + new URLSearchParams({ check: index.rules[c.rule].id, show: l }) }, text)
          : el("span", { class: "ps".includes(l) && (n.F || n.H) ? "soft" : tones[l] || "soft" }, text));
      }
      return el("td", { class: "n" }, parts.length ? parts.map((p) => el("div", {}, p)) : el("span", { class: "soft" }, "not applicable"));
    });
    body.append(el("tr", {}, el("td", {}, el("code", {}, columnName(c)), el("small", {}, index.rules[c.rule].sentence)), cells));
  }
  table.append(body);
  const stale = (index.known || []).filter((k) => k.stale), known = (index.known || []).filter((k) => k.failed);
  const items = (title, all, show) => (all.length ? [el("h3", {}, title), el("ul", {}, all.map((x) => el("li", {}, show(x))))] : []);
  const failures = index.failures || [];
  $("main").replaceChildren(...(failures.length ? [el("h2", {}, "Failures"), ...failures.map(drawFailure)] : []),
    ...((index.following || []).length ? [el("p", { class: "soft" }, "Failed only after one of these, in the same run: " + index.following.join(", "))] : []),
    el("h2", {}, "Checks"),
    ...items("Checks on which no case gave a verdict", index.missing || [], (m) => el("code", { class: "failed" }, m)),
    ...items("Known failures that are stale", stale, (k) => [el("span", { class: "failed" }, k.stale), ": ", el("code", {}, `${k.at || ""} ${k.check} ${k.case}`)]),
    ...items("Known failures", known, (k) => [el("code", {}, `${k.check} ${k.case}`), `, ${k.failed}: ${k.reason}`]),
    el("div", { class: "scroll" }, table),
    ...items("The slowest cases", index.slow || [], (s) => s));
}

let last = null;
function draw() {
  const s = state(), chosen = s.get("case");
  for (const id of filters) {
    if (document.activeElement !== $(id) || id !== "find") $(id).value = s.get(id) || "";
    $(id).classList.toggle("set", !!s.get(id));
  }
  document.body.classList.toggle("case", !!chosen);
  drawList();
  if (chosen === last && last !== null) {
    if (chosen) showCheck();
    return;
  }
  last = chosen;
  const row = index.rows.find((r) => idOf(r) === chosen) || index.rows.find((r) => r.case === chosen);
  if (row && idOf(row) !== chosen) go({ case: idOf(row) }); // named without its subject
  else if (row) {
    drawCase(row).catch((e) => $("main").replaceChildren(el("p", { class: "failed" }, "This case cannot be shown: " + e)));
    if (getComputedStyle(document.querySelector("nav")).position !== "sticky") scrollTo(0, 0);
  } else drawSummary();
}

function step(by) {
  const at = listed.findIndex((r) => idOf(r) === state().get("case"));
  const r = listed[Math.min(Math.max(at + by, 0), listed.length - 1)];
  if (r) go({ case: idOf(r) });
}

let problem = -1;
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName);
  if (e.key === "Escape") {
    if (typing) e.target.blur(); else go({ case: null });
    return;
  }
  if (typing) return;
  const keys = {
    "/": () => $("find").focus(), j: () => step(1), k: () => step(-1),
    n: () => { const all = document.querySelectorAll(".problem"); if (all.length) { problem = (problem + 1) % all.length; all[problem].focus(); all[problem].scrollIntoView({ block: "start" }); } },
  };
  if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
});

const options = (id, list) => $(id).append(...list.map(([v, t]) => el("option", { value: v }, t)));
const counts = {};
const letters = {}; // for each word a letter that stands for it
for (const l of "FlkwtxpHLus") if (index.words[l] && !letters[index.words[l]]) letters[index.words[l]] = l;
for (const r of index.rows) for (const w of new Set([...r.verdicts].filter((l) => l !== " ").map(wordOf))) if (letters[w]) counts[letters[w]] = (counts[letters[w]] || 0) + 1;
options("show", [["", "all verdicts"], ...Object.entries(letters).map(([w, l]) => [l, `${w} (${counts[l]} cases)`])]);
options("check", [["", "all checks"], ...index.rules.map((r) => [r.id, r.id])]);
const distinct = (of) => [...new Set(index.rows.map(of))].sort();
const choices = (id, all, values) => { // a choice of one is none
  options(id, [["", all], ...values.map((v) => [v, v.replace("/", " ")])]);
  $(id).parentElement.hidden = values.length < 2;
};
choices("topic", "all topics", distinct((r) => r.topic));
const versions = distinct((r) => r.runtime + "/" + r.version), runtimes = distinct((r) => r.runtime);
choices("runtime", "all runtimes", versions.length < 2 ? versions : runtimes.flatMap((r) => [r, ...versions.filter((v) => v.startsWith(r + "/"))]));
choices("tier", "all tiers", [...new Set(index.columns.map((c) => c.tier))]);
$("legend").append(...Object.entries(letters).map(([w, l]) => el("span", { class: tones[l] || "soft" }, marks[l] + " " + w + "  ")));
$("find").addEventListener("input", () => go({ find: $("find").value }));
for (const id of filters.slice(1)) $(id).addEventListener("change", () => go({ [id]: $(id).value }));
$("reset").addEventListener("click", () => go(Object.fromEntries(filters.map((f) => [f, ""]))));
$("filter").addEventListener("submit", (e) => e.preventDefault());
addEventListener("hashchange", draw);

$("outcome").textContent = index.outcome;
$("outcome").className = index.failed ? "failed" : "passed";
$("summary").textContent = index.summary;
$("version").textContent = ["turnspec " + (index.turnspec || ""), index.corpus ? "corpus " + index.corpus.slice(0, 19) : "", index.at || ""].filter(Boolean).join(" · ");
if (!location.hash && index.failures) history.replaceState(null, "", "#show=" + (letters.fail || letters.warning || letters.flaky));
draw();
