// The chat that the page shows, and how a patch changes it. No state is changed in place:
// what a patch leaves as it was is the same object in the next chat, so that only what
// changed is drawn.

export const emptyChat = Object.freeze({ seq: 0, head: Object.freeze({}), tasks: [], components: [], messages: [] });

// applyPatch returns the chat after a patch.
export function applyPatch(chat, patch) {
  const base = patch.full ? emptyChat : chat;
  return {
    seq: patch.seq ?? base.seq,
    head: patch.head ?? base.head,
    tasks: patch.tasks ?? base.tasks,
    components: patch.components ?? base.components,
    messages: patch.messages || patch.removed ? patchMessages(base.messages, patch) : base.messages,
  };
}

function patchMessages(messages, patch) {
  const byNumber = new Map(messages.map((m) => [m.number, m]));
  for (const n of patch.removed ?? []) byNumber.delete(n);
  for (const p of patch.messages ?? []) byNumber.set(p.number, patchMessage(byNumber.get(p.number), p));
  return [...byNumber.values()].sort((a, b) => a.number - b.number);
}

// A message's key is its number, which never changes.
function patchMessage(old, p) {
  return {
    key: p.number,
    number: p.number,
    head: p.head ?? old.head,
    blocks: p.blocks ? patchBlocks(old?.blocks ?? [], p.blocks) : old?.blocks ?? [],
  };
}

function patchBlocks(old, patches) {
  const list = [];
  for (const p of patches) {
    if (p.keep) {
      for (let i = p.keep[0]; i < p.keep[1]; i++) list.push(old[i]);
    } else {
      list.push(patchBlock(p.of === undefined ? undefined : old[p.of], p));
    }
  }
  return withKeys(list);
}

function patchBlock(old, p) {
  return {
    data: p.set ?? old.data,
    text: p.text ?? (old?.text ?? "") + (p.append ?? ""),
    blocks: p.blocks ? patchBlocks(old?.blocks ?? [], p.blocks) : old?.blocks ?? [],
    key: old?.key,
  };
}

// withKeys gives each block the key by which its element is found again, also after a full
// patch: its kind and id, and how many before it have the same.
function withKeys(blocks) {
  const seen = new Map();
  return blocks.map((b) => {
    const name = `${b.data.kind} ${b.data.id ?? ""}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const key = `${name} ${count}`;
    return b.key === key ? b : { ...b, key };
  });
}
