// Replays a recorded session in its own time.

import { applyPatch, emptyChat } from "./state.js";

// every is how many frames lie between two chats that are kept, from which others are made.
const every = 64;

// A Replay returns the chat of a recording at any time.
export class Replay {
  constructor(frames) {
    this.frames = frames;
    this.kept = [emptyChat];
    this.at = 0; // frames that made this.chat
    this.chat = emptyChat;
  }

  get length() {
    return this.frames.length > 0 ? this.frames[this.frames.length - 1].at : 0;
  }

  // countAt returns how many frames there are up to a time.
  countAt(time) {
    let low = 0;
    let high = this.frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.frames[middle].at <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // chatAfter returns the chat after a number of frames.
  chatAfter(count) {
    if (count < this.at || Math.floor(count / every) > Math.floor(this.at / every)) {
      const from = Math.min(Math.floor(count / every), this.kept.length - 1);
      if (count < this.at || from * every > this.at) [this.at, this.chat] = [from * every, this.kept[from]];
    }
    while (this.at < count) {
      this.chat = applyPatch(this.chat, this.frames[this.at].patch);
      this.at++;
      if (this.at % every === 0) this.kept[this.at / every] = this.chat;
    }
    return this.chat;
  }
}

const clockText = (ms) => `${(ms / 1000).toFixed(ms < 10000 ? 2 : 1)} s`;

// startPlayer shows a recording with a slider, from its end on.
export function startPlayer(recording, draw) {
  const [play, time, clock, speed] = ["play", "time", "clock", "speed"].map((id) => document.getElementById(id));
  const replay = new Replay(recording.frames);
  let began = 0; // when playing began, as if it had begun at time 0
  let ticket = 0;
  time.max = replay.length;
  const show = (ms) => {
    time.value = ms;
    clock.textContent = `${clockText(ms)} of ${clockText(replay.length)}`;
    time.setAttribute("aria-valuetext", clockText(ms));
    draw(replay.chatAfter(replay.countAt(ms)));
  };
  const stop = () => {
    cancelAnimationFrame(ticket);
    ticket = 0;
    play.textContent = "Play";
  };
  const step = (now) => {
    const ms = (now - began) * Number(speed.value);
    show(Math.min(ms, replay.length));
    if (ms < replay.length) ticket = requestAnimationFrame(step);
    else stop();
  };
  const start = () => {
    const from = Number(time.value) >= replay.length ? 0 : Number(time.value);
    began = performance.now() - from / Number(speed.value);
    play.textContent = "Pause";
    ticket = requestAnimationFrame(step);
  };
  play.addEventListener("click", () => (ticket ? stop() : start()));
  time.addEventListener("input", () => {
    stop();
    show(Number(time.value));
  });
  speed.addEventListener("change", () => {
    if (ticket) {
      stop();
      start();
    }
  });
  document.addEventListener("submit", (e) => e.preventDefault()); // nobody takes an answer
  document.getElementById("player").hidden = false;
  show(replay.length);
}

// readRecording returns the recording that a page holds, or null if it is live.
export async function readRecording(text) {
  if (text.trim() === "") return null;
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}
