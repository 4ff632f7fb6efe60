// The marks of the chat page, for the controls beside it.
let marked = new Set();

export const isMarked = (name) => marked.has(name);

export function stage(name) {
  if (!marked.has(name)) performance.mark(`turnspec:${name}`);
  marked.add(name);
}

export function markStages() {
  performance.clearMarks();
  marked = new Set();
}

export function afterFrame(then) {
  const channel = new MessageChannel();
  channel.port1.onmessage = then;
  channel.port2.postMessage(null);
}
