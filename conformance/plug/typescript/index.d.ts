import type { Command, Events, Runtime } from "./types.js";
export type * from "./types.js";

/** A reply's error code. Of open also a code of the event `error`, such as `start_failure` or `auth`. */
export type Code = "unsupported" | "refused" | "unknown_id" | "no_turn" | "closed" | (string & {});

/** An error whose code the reply contains. Any other error is written to stderr and becomes `refused` (of open: `start_failure`). */
export class PlugError extends Error {
  constructor(code: Code, message?: string);
  code: Code;
}

/**
 * Writes an event. Without `turn` an event has the number of the running turn: `turn_start` begins it, `done` and `error` end it.
 */
export type Emit = <T extends keyof Events>(type: T, data: Events[T], members?: { turn?: number; subagent_id?: string }) => void;

/**
 * Calls a tool or hook of the client, which `open` named. The promise also resolves after the signal has cancelled the call: when
 * the tool has ended.
 */
export type Call = (
  request: { tool: string; input?: unknown; tool_use_id?: string } | { hook: number; input?: unknown },
  signal?: AbortSignal,
) => Promise<Omit<Command["result"], "call">>;

/** An entry of a list. */
export interface Listed {
  /** What names the entry to the runtime: of a model what `set_model` takes, of a session what `resume` takes. */
  id: string;
  title?: string;
  /** The state of an MCP server, in the runtime's words. */
  status?: string;
  /** What the runtime reports of it. */
  raw?: unknown;
}

type Method<K extends keyof Command> = (command: Command[K]) => unknown;

/**
 * An adapter as a subject. It has a method for each command that it supports: the optional ones declare abilities. A method may
 * return a promise; commands also arrive while an earlier one is pending. Each session starts the program again.
 */
export interface Adapter {
  /** The runtime that the adapter wraps. */
  runtime: Runtime;
  /** Abilities that are not commands. */
  can?: ("question" | "attach" | "priority" | "resume" | "fork" | "instructions" | "effort" | "max_requests" | "max_cost" | "extra_dirs" | "setting_sources" | "stream_tool_input" | "mcp" | "schema" | "policy" | "limits" | "tools" | "hooks" | "components")[];
  /** The types of events that the adapter emits; all if it is missing. */
  events?: (keyof Events)[];
  /** Members that its events lack, such as `tool_start.file_path` or `subagent_id`. */
  without?: string[];

  /** Starts the runtime in `dir` and emits `session_ready`. */
  open(command: Command["open"], emit: Emit, call: Call): unknown;
  send: Method<"send">;
  /** Ends the runtime. Also called if stdin is closed before. */
  close(command: object): unknown;

  answer?: Method<"answer">;
  stop?: Method<"stop">;
  // The optional operations:
  steer?: Method<"steer">;
  set_model?: Method<"set_model">;
  set_mode?: Method<"set_mode">;
  stop_all?: Method<"stop_all">;
  stop_task?: Method<"stop_task">;
  withdraw?: Method<"withdraw">;
  revert?: Method<"revert">;
  rewind?: Method<"rewind">;
  compact?: Method<"compact">;
  archive?: Method<"archive">;
  rename?: Method<"rename">;
  /** Returns the entries of a list. For one that the runtime does not have it throws a PlugError with the code `unsupported`. */
  list?: (command: Command["list"]) => Listed[] | Promise<Listed[]>;
}

/** Serves the adapter over stdio until stdin is closed. Write logs to stderr: stdout belongs to the protocol. */
export function plug(adapter: Adapter): void;
