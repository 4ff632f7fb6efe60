// Marks of what the user waits for: turnspec:send, bound, accepted, event, status, text and
// paint of a turn, and turnspec:choose, shell, recent and idle of a session that is opened.
// Each is made once after markStages. A program that measures the page reads them with
// performance.getEntriesByType("mark"). They are off in use: a browser keeps all marks.

let marked = null; // the stages that are marked already, or null if marks are off

export function markStages() {
  performance.clearMarks();
  marked = new Set();
}

export function stage(name) {
  if (!marked || marked.has(name)) return;
  marked.add(name);
  performance.mark(`turnspec:${name}`);
}

// stagesOf marks the stages that a new chat shows, before it is drawn.
export function stagesOf(chat) {
  if (!marked) return;
  stage("event");
  if (chat.head.status === "running") stage("status");
  const last = chat.messages[chat.messages.length - 1];
  if (last?.head.role === "assistant" && last.blocks.some((b) => b.data.kind === "text" && b.text)) stage("text");
}

// afterFrame calls a function when the frame that is drawn now has been handed over to the
// screen.
function afterFrame(then) {
  const channel = new MessageChannel();
  channel.port1.onmessage = then;
  channel.port2.postMessage(null);
}

// framed marks that a frame shows a chat, all of its messages if whole is set. It is called
// in the frame.
export function framed(chat, whole) {
  if (!marked) return;
  const shows = [["text", "paint"], ["choose", "recent"]].filter(([of]) => marked.has(of));
  afterFrame(() => {
    performance.mark("turnspec:frame", { detail: chat.seq });
    for (const [of, name] of shows) {
      if (of !== "choose" || chat.messages.length > 0) stage(name);
    }
    if (whole && marked.has("recent")) requestIdleCallback(() => stage("idle"));
  });
}

// shellDrawn marks that the next frame shows the session that was chosen.
export function shellDrawn() {
  if (marked) requestAnimationFrame(() => afterFrame(() => stage("shell")));
}
