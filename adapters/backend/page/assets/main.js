// Starts the page: a player if it holds a recording, else a client of its server.

import { applyPatch, emptyChat } from "./state.js";
import { element, watchToggles, drawList } from "./dom.js";
import { answerOf } from "./forms.js";
import { saveMedium, serveMedia } from "./media.js";
import { drawChat } from "./draw.js";
import { readRecording, startPlayer, Replay } from "./player.js";
import { Server, follow, followChat } from "./live.js";
import { framed, markStages, shellDrawn, stage, stagesOf } from "./marks.js";

const byId = (id) => document.getElementById(id);

// newest is the chat that is drawn next. The page is drawn once a frame.
let newest = null;
let pending = 0;

// A chat with many messages is drawn from its end, some messages a frame, so that no frame
// takes long. oldest is the number of the first message that is drawn.
const messagesOfFrame = 6;
let oldest = 0;

// extend returns the part of the newest chat to draw: some older messages more than before.
function extend() {
  const { messages } = newest;
  let first = messages.findIndex((m) => m.number >= oldest);
  if (first < 0) first = messages.length;
  first = Math.max(0, first - messagesOfFrame);
  oldest = first > 0 ? messages[first].number : 0;
  return first > 0 ? { ...newest, messages: messages.slice(first) } : newest;
}

function schedule(chat) {
  newest = chat;
  stagesOf(chat);
  pending ||= requestAnimationFrame(drawNewest);
}

function drawNewest() {
  pending = 0;
  const box = byId("chat");
  const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 80;
  const chat = extend();
  drawChat(document, chat);
  const running = newest.head.status === "running" || newest.head.status === "waiting";
  byId("stop").disabled = !running;
  byId("steer").disabled = !running;
  if (atEnd) box.scrollTop = box.scrollHeight;
  framed(newest, chat === newest);
  if (chat !== newest) pending ||= requestAnimationFrame(drawNewest);
}

function showProblem(text) {
  byId("problem").textContent = text;
  byId("problem").hidden = !text;
}

class Client {
  constructor() {
    this.server = new Server();
    this.session = null;
    this.messages = 50;
    this.runs = new Map();
    this.listening = new AbortController(); // to the chat
  }

  start() {
    byId("nav").hidden = false;
    byId("token").addEventListener("submit", (e) => {
      e.preventDefault();
      this.server.setToken(byId("token-text").value.trim());
      byId("token").hidden = true;
      this.connect();
    });
    byId("open").addEventListener("submit", (e) => this.act(e, () => this.openSession()));
    byId("composer").addEventListener("submit", (e) => this.act(e, () => this.send(e.submitter?.value ?? "send")));
    byId("text").addEventListener("keydown", (e) => {
      if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
        e.preventDefault();
        byId("composer").requestSubmit();
      } else if (e.key === "Escape") this.act(e, () => this.post("stop", {}));
    });
    byId("stop").addEventListener("click", (e) => this.act(e, () => this.post("stop", {})));
    byId("older").addEventListener("click", () => {
      this.messages += 200;
      oldest = newest.messages[0]?.number ?? 0;
      this.listen();
    });
    for (const box of [byId("messages"), byId("surfaces")]) {
      box.addEventListener("submit", (e) => this.act(e, () => {
        const { route, body } = answerOf(e.target, e.submitter?.value ?? "");
        return this.post(route, body);
      }));
    }
    byId("messages").addEventListener("click", (e) => {
      const button = e.target.closest("[data-save]");
      if (button) this.act(e, () => saveMedium(button.dataset));
    });
    addEventListener("hashchange", () => this.choose(new URLSearchParams(location.hash.slice(1)).get("session")));
    this.connect();
  }

  // act performs an action of the user, and shows why it failed.
  async act(event, action) {
    event.preventDefault();
    try {
      showProblem("");
      await action();
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error) {
    if (error?.status === 401) {
      byId("token").hidden = false;
      byId("composer").hidden = true;
      byId("token-text").focus();
    }
    showProblem(error ? error.message : "");
  }

  post(route, body) {
    return this.server.json(`/sessions/${encodeURIComponent(this.session)}/${route}`, body);
  }

  async connect() {
    try {
      const health = await this.server.json("/health");
      byId("runtime").replaceChildren(...health.runtimes.map((r) => element("option", null, r)));
      byId("runtime").hidden = health.runtimes.length < 2;
      const { sessions } = await this.server.json("/sessions");
      for (const run of sessions) this.runs.set(run.session_id, run);
    } catch (error) {
      this.fail(error);
      return;
    }
    showProblem("");
    this.drawSessions();
    follow(this.server, () => "/events", new AbortController().signal, {
      received: ({ data }) => this.updateRun(data),
      lost: () => {}, // the chat's stream shows it
    });
    this.choose(new URLSearchParams(location.hash.slice(1)).get("session") ?? [...this.runs.keys()][0]);
  }

  // updateRun shows the state of a session. The feed holds no titles.
  async updateRun(run) {
    const known = { ...this.runs.get(run.session_id), ...run };
    this.runs.set(run.session_id, known);
    this.drawSessions();
    if (known.title) return;
    const { title } = await this.server.json(`/sessions/${encodeURIComponent(run.session_id)}`).catch(() => ({}));
    if (!title) return;
    this.runs.set(run.session_id, { ...this.runs.get(run.session_id), title });
    this.drawSessions();
  }

  drawSessions() {
    if (this.session) byId("title").textContent = this.runs.get(this.session)?.title || this.session;
    const runs = [...this.runs.values()].sort((a, b) => (b.latest ?? "").localeCompare(a.latest ?? ""));
    drawList(byId("sessions"), runs.map((r) => ({ ...r, key: r.session_id })), (run) => {
      const hash = new URLSearchParams({ session: run.session_id });
      return element("li", null, element(
        "a", { href: `#${hash}`, "aria-current": run.session_id === this.session ? "page" : null },
        element("span", { class: "name" }, run.title || run.session_id), element("small", null, [run.runtime, run.state, run.live ? "" : "ended"].filter(Boolean).join(" · ")),
      ));
    });
  }

  choose(session) {
    if (!session || session === this.session) return;
    stage("choose");
    this.session = session;
    // Bytes of a hash never change, so the browser may keep them.
    serveMedia((hash) => this.server.request(`/sessions/${encodeURIComponent(session)}/media/${hash}`, undefined, undefined, "default"));
    this.messages = 50;
    oldest = Infinity;
    byId("composer").hidden = false;
    this.drawSessions();
    shellDrawn();
    this.listen();
  }

  listen() {
    this.listening.abort();
    this.listening = new AbortController();
    followChat(this.server, this.session, () => this.messages, this.listening.signal, schedule, (error) => {
      if (!error) stage("bound");
      this.fail(error);
    });
  }

  async openSession() {
    const { id } = await this.server.json("/sessions", { runtime: byId("runtime").value });
    this.runs.set(id, { session_id: id, live: true, latest: new Date().toISOString(), ...this.runs.get(id) });
    location.hash = new URLSearchParams({ session: id });
    this.choose(id);
    byId("text").focus();
  }

  // send sends the message once: its id lets the server recognize a repetition. A session
  // that ended is resumed first.
  async send(how) {
    const text = byId("text").value.trim();
    if (!text) return;
    const body = { message: text, message_id: crypto.randomUUID() };
    stage("send");
    try {
      await this.post(how === "steer" ? "steer" : "message", body);
    } catch (error) {
      if (error.code !== "closed") throw error;
      await this.post("resume", {});
      await this.post("message", body);
    }
    stage("accepted");
    byId("text").value = "";
    byId("chat").scrollTop = byId("chat").scrollHeight;
  }
}

watchToggles(document);
globalThis.turnspec = { applyPatch, emptyChat, drawChat, Replay, markStages };
const recording = await readRecording(byId("recording").textContent);
if (recording) startPlayer(recording, schedule);
else new Client().start();
