// Draws sessions live and from their log, and returns those whose elements differ.
(sessions) => {
  const { applyPatch, emptyChat, drawChat } = globalThis.turnspec;
  const page = () => {
    const root = document.createElement("div");
    for (const [id, tag] of [["messages", "div"], ["facts", "div"], ["surfaces", "aside"], ["doing", "span"], ["queue", "span"], ["older", "button"]]) {
      const part = document.createElement(tag);
      part.id = id;
      root.append(part);
    }
    return root;
  };
  const differ = [];
  for (const { id, live, stored } of sessions) {
    try {
      const one = page();
      let chat = emptyChat;
      for (const patch of live) {
        chat = applyPatch(chat, patch);
        drawChat(one, chat);
      }
      const other = page();
      drawChat(other, applyPatch(emptyChat, stored));
      const [a, b] = [one.innerHTML, other.innerHTML];
      if (a !== b) {
        let i = 0;
        while (a[i] === b[i]) i++;
        differ.push(`${id}: live …${a.slice(Math.max(0, i - 80), i + 120)}…\nstored …${b.slice(Math.max(0, i - 80), i + 120)}…`);
      }
      if (one.querySelector("script, style, iframe, img, [onclick], [style]")) differ.push(`${id}: an element that the page never draws`);
    } catch (error) {
      differ.push(`${id}: ${error.stack}`);
    }
  }
  return differ;
}
