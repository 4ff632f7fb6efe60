// Describes the items of Codex as tools.
import type { Item } from "./adapter.ts";

/** A tool: its canonical name, its input, and what is shown of it. */
export interface Tool {
  name: string;
  input: unknown;
  shown?: { command?: string; file_path?: string; query?: string; url?: string };
}

/** Returns the tool of an item, if it is one. */
export function describe(item: Item): Tool | undefined {
  switch (item.type) {
    case "commandExecution": {
      const command = unwrap(item.command ?? "");
      return { name: "Bash", input: { command }, shown: { command } };
    }
    case "fileChange": {
      const { changes = [] } = item;
      const shown = changes.length > 0 ? { file_path: changes[0].path } : {};
      return { name: "Edit", input: { changes }, shown };
    }
    case "mcpToolCall":
      return { name: `mcp__${item.server}__${item.tool}`, input: item.arguments };
    case "webSearch": {
      const { query, action } = item; // what it does is known when it has ended
      const url = action?.url;
      if (url) return { name: "WebFetch", input: { url }, shown: { url } };
      return query ? { name: "WebSearch", input: { query }, shown: { query } } : undefined;
    }
    case "imageView": {
      const shown = { file_path: item.path };
      return { name: "Read", input: shown, shown };
    }
    case "collabAgentToolCall":
      return { name: item.tool ?? "", input: { prompt: item.prompt ?? "" } };
    case "subAgentActivity":
      if (item.kind === "started") return { name: "spawn_agent", input: {} };
      if (item.kind === "interacted") return { name: "followup_task", input: {} };
  }
}

/** Returns what a tool wrote, or why it failed. */
export function outputOf(item: Item): string {
  const content = item.result?.content?.map((c) => c.text ?? "").join("\n");
  return item.aggregatedOutput || item.error?.message || content || item.query || "";
}

/** Returns the command that the runtime has wrapped in a shell: /bin/bash -lc 'ls'. */
export function unwrap(command: string): string {
  const inner = /^\S*sh -l?c ([^]*)$/.exec(command)?.[1];
  if (inner === undefined) return command;
  const word = /'([^']*)'|"((?:\\[^]|[^"\\])*)"|\\([^])/g; // quoted, quoted twice, or escaped
  return inner.replace(word, (_, single, double, escaped) => {
    return single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped;
  });
}
