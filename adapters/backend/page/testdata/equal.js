// Draws sessions live and from their log, and returns those whose elements differ, or
// whose elements show another text than the model's.
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
  // plain is text whose Markdown is itself.
  const plain = /^(?![\d\s]|[-+])[\w ,.!?'()äöü-]*$/;
  const textsOf = (blocks) => blocks.flatMap((b) => [...(b.data.kind === "text" ? [b.text] : []), ...textsOf(b.blocks)]);
  let texts = 0;
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
      const whole = applyPatch(emptyChat, stored);
      drawChat(other, whole);
      const wanted = whole.messages.filter((m) => m.head.role !== "user").flatMap((m) => textsOf(m.blocks));
      const drawn = [...one.querySelectorAll(".text[data-list]")];
      if (drawn.length !== wanted.length) differ.push(`${id}: ${drawn.length} texts are drawn, not ${wanted.length}`);
      wanted.forEach((text, i) => {
        if (!plain.test(text)) return;
        texts++;
        if (drawn[i]?.textContent !== text.trim()) differ.push(`${id}: "${drawn[i]?.textContent}" is drawn for "${text}"`);
      });
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
  return { differ, texts };
}
