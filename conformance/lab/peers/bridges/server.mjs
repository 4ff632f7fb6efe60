// What the servers of the bridges share: a server whose reply to the POST of a message is the
// stream of its turn, as in the documentation of `useChat` and AG-UI.
import http from "node:http";

// serve answers POSTs of one path. leave is aborted if the client leaves before the end.
export function serve(path, answer, end = () => {}) {
  const open = new Set();
  const server = http.createServer(async (request, response) => {
    if (request.method !== "POST" || request.url !== path) return response.writeHead(404).end();
    const leave = new AbortController();
    const turn = { leave, ended: new Promise((go) => response.on("close", () => (leave.abort(), open.delete(turn), go()))) };
    open.add(turn);
    try {
      let text = "";
      for await (const chunk of request) text += chunk;
      await answer(JSON.parse(text), response, leave.signal);
    } catch (e) {
      console.error(e);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    }
  });
  server.listen(process.env.PORT ?? 3000, "127.0.0.1");
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"])
    process.once(signal, async () => {
      for (const { leave } of open) leave.abort();
      await Promise.race([Promise.all([...open].map((t) => t.ended)), new Promise((go) => setTimeout(go, 5000))]);
      await end();
      process.exit(0);
    });
}

// chat serves a provider of the AI SDK for `useChat`. modelOf returns the model of a chat.
export function chat({ streamText, convertToModelMessages }, modelOf, end) {
  const models = new Map();
  serve("/api/chat", async ({ id, messages }, response, abortSignal) => {
    if (!models.has(id)) models.set(id, await modelOf());
    const { model, ...options } = models.get(id);
    const result = streamText({ model, messages: await convertToModelMessages(messages), abortSignal, onError() {}, ...options });
    result.pipeUIMessageStreamToResponse(response, { onError: (e) => e?.message ?? String(e) }); // by default errors are not shown
  }, end);
}
