// The connection to the server: requests with the token, and the stream of patches.

import { applyPatch, emptyChat } from "./state.js";

// A Server sends requests. The token is held in the tab, and never in an address that is
// sent: the fragment that brings it is removed.
export class Server {
  constructor() {
    const fragment = new URLSearchParams(location.hash.slice(1));
    if (fragment.has("token")) {
      sessionStorage.setItem("token", fragment.get("token"));
      fragment.delete("token");
      history.replaceState(null, "", fragment.size > 0 ? `#${fragment}` : location.pathname);
    }
  }

  setToken(token) {
    sessionStorage.setItem("token", token);
  }

  // request returns the response, or throws an error with the server's message and code.
  async request(path, body, signal, cache = "no-store") {
    const headers = {};
    const token = sessionStorage.getItem("token");
    if (token) headers.Authorization = `Bearer ${token}`;
    const response = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : JSON.stringify(body), signal, cache });
    if (response.ok) return response;
    const { error } = await response.json().catch(() => ({}));
    throw Object.assign(new Error(error?.message ?? `the server answered ${response.status}`), { code: error?.code, status: response.status });
  }

  async json(path, body) {
    return (await this.request(path, body)).json();
  }
}

// eventsOf yields the server-sent events of a response.
export async function* eventsOf(response) {
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const fields = { data: "" };
        for (const l of part.split("\n")) {
          const [, name, text] = /^(\w+): ?(.*)$/.exec(l) ?? [];
          if (name) fields[name] = name === "data" && fields.data ? `${fields.data}\n${text}` : text;
        }
        if (fields.data) yield { name: fields.event, data: JSON.parse(fields.data) };
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

const pause = (ms, signal) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
});

// follow reads a stream and reconnects until the signal aborts. connected is called after
// each connection, lost with each error that ends one.
export async function follow(server, path, signal, { received, connected, lost }) {
  for (let wait = 250; !signal.aborted; wait = Math.min(wait * 2, 8000)) {
    try {
      const response = await server.request(path(), undefined, signal);
      connected?.();
      for await (const event of eventsOf(response)) {
        wait = 250;
        if (signal.aborted) return;
        received(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      lost(error);
      if (error.status === 401) return;
    }
    await pause(wait, signal);
  }
}

// followChat calls draw with the chat of a session after each patch.
export function followChat(server, session, messages, signal, draw, lost) {
  let chat = emptyChat;
  return follow(server, () => `/sessions/${encodeURIComponent(session)}/view?messages=${messages()}`, signal, {
    received: ({ name, data }) => {
      if (name !== "patch") return;
      chat = applyPatch(chat, data);
      draw(chat);
    },
    connected: () => lost(null),
    lost,
  });
}
