// The images, sounds and documents that tools gave. A chat refers to their bytes by a hash. The
// page asks its server for those that the user sees; a page that is a file names them only.

import { element } from "./dom.js";

// The types that the page shows. An image in SVG may hold scripts, so it can only be saved.
const imageTypes = new Set(["image/avif", "image/gif", "image/jpeg", "image/png", "image/webp"]);
const soundTypes = new Set(["audio/aac", "audio/flac", "audio/mp4", "audio/mpeg", "audio/ogg", "audio/wav", "audio/wave", "audio/webm", "audio/x-wav"]);
const endings = { "application/json": ".json", "application/pdf": ".pdf", "image/svg+xml": ".svg", "text/csv": ".csv", "text/html": ".html", "text/plain": ".txt" };

const typeOf = (m) => (m.mime ?? "").split(";")[0].trim().toLowerCase();
const isShown = (m) => imageTypes.has(typeOf(m)) || soundTypes.has(typeOf(m));

// fetchMedium returns the response with the bytes of a hash. It is null in a file.
let fetchMedium = null;

// loaded holds the addresses of the bytes that this tab has, by hash: "" if the server has none.
const loaded = new Map();

// serveMedia lets the page ask for the media of a session, and drops those of the last one.
export function serveMedia(fetcher) {
  for (const address of loaded.values()) if (address) URL.revokeObjectURL(address);
  loaded.clear();
  fetchMedium = fetcher;
}

// showsMedia reports whether a card shows more of some media than their names.
export const showsMedia = (media) => fetchMedium !== null && (media ?? []).some(isShown);

const sizeOf = (bytes) => (bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);

// mediaView lists what a tool gave besides text.
export function mediaView(media) {
  return element("ul", { class: "attachments media" }, media.map((m) => element(
    "li", null, element("p", null, element("span", { class: "tag" }, m.kind), ` ${m.mime || "unknown type"}, ${sizeOf(m.size)} `, fetchMedium && !isShown(m) ? saveButton(m) : null),
    fetchMedium && isShown(m) ? mediumView(m) : null,
  )));
}

const saveButton = (m) => element("button", { type: "button", "data-save": m.sha256, "data-name": `${m.kind}-${m.sha256.slice(0, 8)}${endings[typeOf(m)] ?? ""}` }, "Save");

const notStored = () => element("p", { class: "soft" }, "The server does not hold it.");

function mediumView(m) {
  const address = loaded.get(m.sha256);
  if (address === "") return notStored();
  const attributes = { "data-medium": m.sha256, "data-type": typeOf(m), src: address };
  const el = imageTypes.has(typeOf(m)) ? element("img", { ...attributes, alt: "An image that the tool gave" }) : element("audio", { ...attributes, controls: true, "aria-label": "A sound that the tool gave" });
  seen.observe(el);
  return el;
}

const seen = new IntersectionObserver((entries) => entries.forEach((e) => e.isIntersecting && load(e.target)), { root: document.getElementById("chat"), rootMargin: "300px" });

// load gives an element its bytes. If that fails, it is tried again when the user sees it again.
async function load(el) {
  const { medium: hash, type } = el.dataset;
  if (el.hasAttribute("src") || el.hasAttribute("aria-busy")) return;
  const fetcher = fetchMedium;
  el.setAttribute("aria-busy", "true");
  try {
    const bytes = loaded.has(hash) ? null : await (await fetcher(hash)).arrayBuffer();
    if (fetcher !== fetchMedium) return; // of another session
    if (!loaded.has(hash)) loaded.set(hash, URL.createObjectURL(new Blob([bytes], { type })));
    el.setAttribute("src", loaded.get(hash));
  } catch (error) {
    if (error.status !== 404 || fetcher !== fetchMedium) return;
    loaded.set(hash, "");
    el.replaceWith(notStored());
  } finally {
    el.removeAttribute("aria-busy");
  }
}

// saveMedium saves the medium of a button as a file.
export async function saveMedium({ save, name }) {
  const bytes = await (await fetchMedium(save)).arrayBuffer();
  const address = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
