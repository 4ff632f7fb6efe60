// Written by `go test ./conformance/plug/jsonl -run TestTypes -update` from the schemas of events and lines.

/** Attachment is an attachment of a user's message. */
export interface Attachment {
  kind: string;
  name?: string;
  path?: string;
  url?: string;
  mime?: string;
}

/** BlockEnd closes a block of text, or retracts one of reasoning. */
export interface BlockEnd {
  block_id: string;
  status: BlockStatus;
  text?: string;
}

/** BlockStatus is how a block of text ended: complete; replaced, text of block_end is the authoritative text; interrupted, cut off by a stop, an error or the end of the runtime; retracted, the runtime took it back, so that it is not shown any more. */
export type BlockStatus = "complete" | "replaced" | "interrupted" | "retracted";

/** By is who decided: the user, a policy of the client, or the runtime; withdrawn means that the runtime withdrew the question. */
export type By = "user" | "policy" | "runtime" | "withdrawn";

/** Cause is why a turn began: user, a message of the client; task, the runtime itself began it, because a task in the background ended; command, a command that is no message, such as compact. */
export type Cause = "user" | "task" | "command";

/** ChangeKind is what a change did to a file. */
export type ChangeKind = "add" | "update" | "delete" | "move";

/** Checkpoint reports a checkpoint. */
export interface Checkpoint {
  checkpoint_id: string;
  action: CheckpointAction;
}

/** CheckpointAction is what happened to a checkpoint. */
export type CheckpointAction = "created" | "restored";

/** Compaction reports that history is being summarized. */
export interface Compaction {
  phase: Phase;
  tokens?: number;
}

/** ComponentRemove removes a component. */
export interface ComponentRemove {
  component_id: string;
}

/** ComponentUpdate creates, replaces or merges a component on a surface. */
export interface ComponentUpdate {
  component_id: string;
  component_name: string;
  props: unknown;
  surface: string;
  merge?: boolean;
}

/** Context is how much of the model's window is used, in tokens. */
export interface Context {
  used: number;
  window: number;
}

/** Decision is the answer to a permission request. cancel denies and ends the turn. */
export type Decision = "allow" | "deny" | "cancel";

/** Delta is a fragment of visible text. MessageID is the runtime's message. BlockID is the block of text, unique within the session: the fragments of a block belong together, and different blocks are different paragraphs. */
export interface Delta {
  text: string;
  message_id: string;
  block_id: string;
}

/** Done ends a turn. Reason is the runtime's name for the end of the turn: terminal_reason of Claude Code's result, not stop_reason, and the status of Codex's turn. It may be missing, above all if the turn was completed. It is "closed" if the client closed the session in the turn, and the runtime named no end. */
export interface Done {
  stopped?: boolean;
  reason?: string;
  exit_code?: number;
}

/** Error ends its scope: the turn if it has one, else the session. */
export interface Error {
  message: string;
  code: ErrorCode;
}

/** ErrorCode is the kind of an error. The list is closed. */
export type ErrorCode = "auth" | "rate_limit" | "overloaded" | "billing" | "invalid_request" | "context_window" | "model" | "network" | "limit" | "crash" | "timeout" | "protocol" | "unknown" | "start_failure";

/** FileChange is one changed file. Diff is a unified diff for an update, and the whole content for an added or deleted file. */
export interface FileChange {
  path: string;
  kind: ChangeKind;
  /** the new path, of a move */
  move_to?: string;
  /** a unified diff; the whole content of an added or deleted file */
  diff?: string;
}

/** Interrupt asks the user a question, or to approve a plan. */
export interface Interrupt {
  interrupt_id: string;
  component_name: string;
  props: unknown;
  surface: string;
}

/** InterruptResolved closes an interrupt. */
export interface InterruptResolved {
  interrupt_id: string;
  value: unknown;
  by: By;
}

/** Level is the severity of a notice. */
export type Level = "info" | "warning" | "error";

/** Media is an image, a sound or a document that a tool gave. The event refers to the bytes by their hash and does not hold them. */
export interface Media {
  kind: MediaKind;
  mime: string;
  /** in bytes */
  size: number;
  /** of the bytes, in hexadecimal digits */
  sha256: string;
}

/** MediaKind is the kind of a Media. */
export type MediaKind = "image" | "audio" | "document";

/** ModeChanged reports the permission mode in force. */
export interface ModeChanged {
  value: string;
}

/** ModelChanged reports the model in force. */
export interface ModelChanged {
  value: string;
}

/** Notice reports something that does not end the turn: an unknown message, garbage, a retry, a warning. Raw is the message as it was received. */
export interface Notice {
  level: Level;
  code: NoticeCode;
  text?: string;
  raw?: unknown;
}

/** NoticeCode is the kind of a notice. The list is closed. */
export type NoticeCode = "unknown_message" | "garbage" | "long_line" | "retry" | "warning" | "late" | "refused";

/** PermissionRequest asks whether a tool may run. */
export interface PermissionRequest {
  request_id: string;
  tool_use_id?: string;
  tool_name: string;
  tool_input: unknown;
  options?: string[];
  reason?: string;
}

/** PermissionResolved follows each permission request exactly once. */
export interface PermissionResolved {
  request_id: string;
  tool_name: string;
  allowed: boolean;
  decision: Decision;
  by: By;
}

/** Phase is the phase of a compaction. */
export type Phase = "start" | "end";

/** Plan is the whole list of steps with their current statuses. */
export interface Plan {
  steps: PlanStep[];
}

/** PlanStep is one step. */
export interface PlanStep {
  text: string;
  status: StepStatus;
}

/** Queue is the whole list of queued messages. */
export interface Queue {
  message_ids: string[];
}

/** Result is the final text of a turn, if the runtime sends one. It does not add a second copy to the chat. */
export interface Result {
  text: string;
  stats?: Stats;
}

/** Scope is what the tokens of a usage count: request, one reply of the model; turn, the turn so far; session, the session so far. Tokens of the scope request add up; of the others the last event counts: the tokens of a session are the last usage of the scope session, or the sum of the last usages of its turns. */
export type Scope = "request" | "turn" | "session";

/** SessionEnd is the last event of a session. Reason is "closed" if the client closed the session, and otherwise says in free words why it ended. ExitCode is the exit code of the process, if it is known. If a signal ended the process, it is missing, -1, 128 and the signal's number, or that number negated. */
export interface SessionEnd {
  reason: string;
  exit_code?: number;
}

/** SessionReady is the first event of a session. */
export interface SessionReady {
  session_id: string;
  runtime: string;
  runtime_version?: string;
  provider_session_id?: string;
  resumed?: boolean;
  forked_from?: string;
  model?: string;
  cwd?: string;
  mode?: string;
}

/** Stats are the runtime's own figures of a turn. Durations are milliseconds. */
export interface Stats {
  duration_ms?: number;
  rounds?: number;
}

/** StepStatus is the state of a plan's step. */
export type StepStatus = "pending" | "in_progress" | "completed";

/** Task reports work that may outlive its turn. A sub-agent's TaskID is the subagent_id of its events. */
export interface Task {
  task_id: string;
  kind: TaskKind;
  parent_id?: string;
  tool_use_id?: string;
  name?: string;
  status: TaskStatus;
  text?: string;
  usage?: Tokens;
}

/** TaskKind is the kind of a task: a sub-agent, or a command in the background. */
export type TaskKind = "subagent" | "command";

/** TaskStatus is a task's state: running; completed; failed; stopped, the client or the runtime ended it; interrupted, it was cut off with its turn or session. */
export type TaskStatus = "running" | "completed" | "failed" | "stopped" | "interrupted";

/** Thinking is a fragment of visible reasoning. Done closes the block. Without text it only signals activity. */
export interface Thinking {
  text: string;
  done?: boolean;
  block_id?: string;
}

/** Tokens counts tokens. */
export interface Tokens {
  input: number;
  cached?: number;
  output: number;
  reasoning?: number;
  total?: number;
}

/** ToolInput is a piece of the input of a call that the model still writes, before the call's tool_start. It is emitted only if the session was opened with stream_tool_input. The first piece has the tool's name. The texts, joined, are the JSON of the input. A call that does not start, because its message was cut off or taken back, is dropped: its last piece states it. */
export interface ToolInput {
  tool_use_id: string;
  /** of the first piece */
  tool?: string;
  text: string;
  /** the call does not start */
  dropped?: boolean;
}

/** ToolOutput is a part of a running tool's output. The beginning may be missing. */
export interface ToolOutput {
  tool_use_id: string;
  text: string;
}

/** ToolProgress is what the runtime states about a tool that runs, between its tool_start and its tool_result: how far it is, for how long it runs, or what it does. A later one replaces it. It has at least one of message, progress and elapsed_ms. */
export interface ToolProgress {
  tool_use_id: string;
  /** what the tool does, in its words */
  message?: string;
  /** how far it is, in a unit of the tool's own */
  progress?: number;
  /** progress at the end */
  total?: number;
  /** milliseconds since it began */
  elapsed_ms?: number;
}

/** ToolResult closes a tool call. Each call has exactly one. */
export interface ToolResult {
  tool_use_id: string;
  output: string;
  is_error: boolean;
  status: ToolStatus;
  exit_code?: number;
  changes?: FileChange[];
  file_path?: string;
  is_file_read?: boolean;
  /** the runtime states that output is a part of the tool's output */
  truncated?: boolean;
  /** what the tool gave besides text, in order */
  media?: Media[];
}

/** ToolStart announces a tool call. Input is the call's input as the runtime sent it; the fields below it repeat the parts that a UI shows first. */
export interface ToolStart {
  tool_use_id: string;
  tool: string;
  input?: unknown;
  command?: string;
  file_path?: string;
  pattern?: string;
  /** the folder in which pattern is looked for */
  search_path?: string;
  /** of a WebSearch */
  query?: string;
  /** the page of a WebFetch */
  url?: string;
  is_file_read?: boolean;
  /** it was started to run on after its result */
  background?: boolean;
  /** the call starts a sub-agent */
  subagent_spawn?: boolean;
  subagent_name?: string;
  /** the runtime's message that holds the call */
  message_id?: string;
}

/** ToolStatus is how a tool ended: ok; error; denied, it was not allowed to run; interrupted, it was stopped, or its result never came; backgrounded, its call returned and it still runs, as a task. */
export type ToolStatus = "ok" | "error" | "denied" | "interrupted" | "backgrounded";

/** TurnStart begins a turn. MessageIDs are the client's messages that caused it. */
export interface TurnStart {
  cause: Cause;
  message_ids: string[];
  provider_turn_id?: string;
}

/** Usage reports tokens, the scope that they count, and the cost (US dollars, cumulative for the session whatever the scope). */
export interface Usage {
  tokens: Tokens;
  scope?: Scope;
  cost?: number;
  context?: Context;
}

/** UserMessage is emitted when the runtime takes a message. */
export interface UserMessage {
  message_id: string;
  text: string;
  attachments?: Attachment[];
  via: Via;
}

/** Via is how a user's message entered a turn: turn, the turn began with it; merge, it was sent with send, and the runtime took it into a turn that began with another message; steer, it was sent with steer into the running turn. */
export type Via = "turn" | "merge" | "steer";

/** The command open. */
export interface OpenCommand {
  /** A name for the session; events may leave it out. */
  session_id: string;
  /** The working directory of the runtime. */
  dir: string;
  /** The program to start in place of the runtime's usual one. Who finds the runtime by PATH or a variable need not look at it. */
  command: string[];
  /** Further arguments for the runtime, after the adapter's own. */
  args?: string[];
  /** What the runtime must ask for before it does it. */
  mode: string;
  /** The runtime's name of a model; absent: its default. */
  model?: string;
  /** The provider_session_id of the session to continue. */
  resume?: string;
  /** With resume: a new session with that history. */
  fork?: boolean;
  /** With fork: the provider_turn_id of the last turn that it takes over. */
  at?: string;
  /** With resume: the session is archived; unarchive it first. */
  unarchive?: boolean;
  /** Keep copies of the files that the agent changes, so that rewind can restore them. */
  checkpoints?: boolean;
  /** A text for the model, with each of its replies, after the runtime's own instructions. */
  instructions?: string;
  /** With instructions: they replace the runtime's own. A program whose runtime cannot do that refuses open with unsupported. */
  replace_instructions?: boolean;
  /** How much the model reasons, by a level of the runtime's, such as high; absent: its default. */
  effort?: string;
  /** How often a turn may ask the model. A turn that would ask once more ends in an error, limit. */
  max_requests?: number;
  /** What the session may cost, in US dollars. After that each turn ends in an error, limit. */
  max_cost?: number;
  /** Folders beside dir in which tools may work as in dir: absolute paths. */
  extra_dirs?: string[];
  /** The files of settings that the runtime reads: user, project, local, or some of them; absent: those that it reads by default, and an empty list: none. */
  setting_sources?: string[];
  /** Emit the inputs of tools in pieces, tool_input, as the model writes them, before the tool_start. */
  stream_tool_input?: boolean;
  /** Where the stream of a resumed session left off: continue to count seq and turn. */
  after?: {
    seq: number;
    turn: number;
  };
  /** MCP servers for the runtime to start, with name, command, args and env; one that runs already has name, type, url and headers. */
  mcp?: ({
    name: string;
    command?: string;
    args?: string[];
    env?: Record<string, string>;
    /** Of a server that runs already. */
    type?: "http" | "sse";
    /** Its address, in place of command. */
    url?: string;
    /** Sent with each request to it. */
    headers?: Record<string, string>;
  })[];
  /** The MCP servers may ask the user: emit interrupt. */
  questions?: boolean;
  /** A JSON Schema of the final answer. */
  schema?: unknown;
  /** The tool policy, in the form of adapters/backend/policy: answer the runtime's requests by it, and enforce it for calls that the runtime does not ask about. */
  policy?: Record<string, unknown>;
  /** How long the program waits in this session, in milliseconds. Only where a case needs it. */
  limits?: {
    /** Until the runtime is ready: after it the open fails with code timeout. */
    start_ms: number;
    /** Until a turn has ended after stop. */
    stop_ms: number;
    /** For any sign of life of a runtime that is silent in a turn, with all that the program does to find out: after it the turn ends in an error with code timeout. */
    stall_ms: number;
  };
  /** Tools of the client, which the program offers to the runtime. A call of one is a line call. */
  tools?: {
    name: string;
    description?: string;
    /** The JSON schema of its input. */
    schema?: unknown;
    read_only?: boolean;
  }[];
  /** Hooks of the client, by the runtime's own names. A call names one by its index. */
  hooks?: {
    event: string;
    matcher?: string;
    timeout_s?: number;
  }[];
  /** What the agent may show, in the form of adapters/backend/component. The program offers the tools for it. */
  components?: unknown;
}

/** The command send. */
export interface SendCommand {
  /** The client's id of the message. */
  message_id: string;
  /** What the user says; of rename the name. */
  text: string;
  /** Files that come with the message, as data: URLs. */
  files?: {
    kind: string;
    name?: string;
    path?: string;
    url?: string;
    mime?: string;
  }[];
  /** When a message that comes during a turn is to be taken. */
  priority?: "now" | "next" | "later";
}

/** The command answer. */
export interface AnswerCommand {
  /** Of a permission_request, or the interrupt_id of an interrupt. */
  request_id: string;
  /** The answer to a permission_request. */
  decision?: "allow" | "deny" | "cancel";
  /** With deny and cancel: what the model is told. */
  message?: string;
  /** With allow: run with this input instead. */
  input?: unknown;
  /** The answer to an interrupt: an object with the answers by question, or false. */
  value?: unknown;
  /** With allow: how long it holds; absent: this once. */
  scope?: "session" | "always";
}

/** The command stop. */
export type StopCommand = Record<string, unknown>;

/** The command steer. */
export interface SteerCommand {
  /** The client's id of the message. */
  message_id: string;
  /** The text of the message; of rename the name. */
  text: string;
}

/** The command set_model. */
export interface SetModelCommand {
  /** The runtime's name of a model. */
  model: string;
}

/** The command set_mode. */
export interface SetModeCommand {
  /** What the runtime must ask for. */
  mode: string;
}

/** The command stop_all. */
export type StopAllCommand = Record<string, unknown>;

/** The command stop_task. */
export interface StopTaskCommand {
  /** The task to stop. */
  task_id: string;
}

/** The command withdraw. */
export interface WithdrawCommand {
  /** The client's id of the message. */
  message_id: string;
}

/** The command revert. */
export interface RevertCommand {
  /** The client's id of the message. */
  message_id: string;
}

/** The command rewind. */
export interface RewindCommand {
  /** The client's id of the message. */
  message_id: string;
  /** Only return what would change. */
  dry?: boolean;
}

/** The command compact. */
export type CompactCommand = Record<string, unknown>;

/** The command archive. */
export type ArchiveCommand = Record<string, unknown>;

/** The command rename. */
export interface RenameCommand {
  /** The text of the message; of rename the name. */
  text: string;
}

/** The command list. */
export interface ListCommand {
  /** The name of the list. */
  list: "models" | "commands" | "mcp" | "account" | "sessions";
}

/** The command close. */
export type CloseCommand = Record<string, unknown>;

/** The command result. */
export interface ResultCommand {
  /** The id of the call. */
  call: string;
  /** What the tool returned. */
  content?: {
    text?: string;
    /** Base64. */
    image?: string;
    mime?: string;
  }[];
  /** The tool failed; content says how. */
  is_error?: boolean;
  /** What the hook returned, in the runtime's own form; absent: nothing. */
  output?: unknown;
  /** The tool or hook could not answer. */
  error?: string;
}

/** The data of each type of event. */
export interface Events {
  block_end: BlockEnd;
  checkpoint: Checkpoint;
  compaction: Compaction;
  component_remove: ComponentRemove;
  component_update: ComponentUpdate;
  delta: Delta;
  done: Done;
  error: Error;
  interrupt: Interrupt;
  interrupt_resolved: InterruptResolved;
  mode_changed: ModeChanged;
  model_changed: ModelChanged;
  notice: Notice;
  permission_request: PermissionRequest;
  permission_resolved: PermissionResolved;
  plan: Plan;
  queue: Queue;
  result: Result;
  session_end: SessionEnd;
  session_ready: SessionReady;
  task: Task;
  thinking: Thinking;
  tool_input: ToolInput;
  tool_output: ToolOutput;
  tool_progress: ToolProgress;
  tool_result: ToolResult;
  tool_start: ToolStart;
  turn_start: TurnStart;
  usage: Usage;
  user_message: UserMessage;
}

/** What each command holds. */
export interface Command {
  open: OpenCommand;
  send: SendCommand;
  answer: AnswerCommand;
  stop: StopCommand;
  steer: SteerCommand;
  set_model: SetModelCommand;
  set_mode: SetModeCommand;
  stop_all: StopAllCommand;
  stop_task: StopTaskCommand;
  withdraw: WithdrawCommand;
  revert: RevertCommand;
  rewind: RewindCommand;
  compact: CompactCommand;
  archive: ArchiveCommand;
  rename: RenameCommand;
  list: ListCommand;
  close: CloseCommand;
  result: ResultCommand;
}

/** A runtime that an adapter may wrap. */
export type Runtime = "acp" | "chat" | "claude" | "codex" | "codexexec" | "opencode" | "opencoderun" | "pi";
