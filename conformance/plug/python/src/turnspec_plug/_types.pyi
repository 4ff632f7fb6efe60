# Written by `go test ./conformance/plug/jsonl -run TestTypes -update` from the schemas of events and lines.
from typing import Any, Dict, List, Literal, TypedDict
from typing_extensions import Required

class Attachment(TypedDict, total=False):
    """Attachment is an attachment of a user's message."""
    kind: Required[str]
    name: str
    path: str
    url: str
    mime: str

class BlockEnd(TypedDict, total=False):
    """BlockEnd closes a block of text, or retracts one of reasoning."""
    block_id: Required[str]
    status: Required[BlockStatus]
    text: str

BlockStatus = Literal["complete", "replaced", "interrupted", "retracted"]

By = Literal["user", "policy", "runtime", "withdrawn"]

Cause = Literal["user", "task", "command"]

ChangeKind = Literal["add", "update", "delete", "move"]

class Checkpoint(TypedDict, total=False):
    """Checkpoint reports a checkpoint."""
    checkpoint_id: Required[str]
    action: Required[CheckpointAction]

CheckpointAction = Literal["created", "restored"]

class Compaction(TypedDict, total=False):
    """Compaction reports that history is being summarized."""
    phase: Required[Phase]
    tokens: int

class ComponentRemove(TypedDict, total=False):
    """ComponentRemove removes a component."""
    component_id: Required[str]

class ComponentUpdate(TypedDict, total=False):
    """ComponentUpdate creates, replaces or merges a component on a surface."""
    component_id: Required[str]
    component_name: Required[str]
    props: Required[Any]
    surface: Required[str]
    merge: bool

class Context(TypedDict, total=False):
    """Context is how much of the model's window is used, in tokens."""
    used: Required[int]
    window: Required[int]

Decision = Literal["allow", "deny", "cancel"]

class Delta(TypedDict, total=False):
    """Delta is a fragment of visible text. MessageID is the runtime's message. BlockID is the block of text, unique within the session: the fragments of a block belong together, and different blocks are different paragraphs."""
    text: Required[str]
    message_id: Required[str]
    block_id: Required[str]

class Done(TypedDict, total=False):
    """Done ends a turn. Reason is the runtime's name for the end of the turn: terminal_reason of Claude Code's result, not stop_reason, and the status of Codex's turn. It may be missing, above all if the turn was completed. It is "closed" if the client closed the session in the turn, and the runtime named no end."""
    stopped: bool
    reason: str
    exit_code: int

class Error(TypedDict, total=False):
    """Error ends its scope: the turn if it has one, else the session."""
    message: Required[str]
    code: Required[ErrorCode]

ErrorCode = Literal["auth", "rate_limit", "overloaded", "billing", "invalid_request", "context_window", "model", "network", "limit", "crash", "timeout", "protocol", "unknown", "start_failure"]

class FileChange(TypedDict, total=False):
    """FileChange is one changed file. Diff is a unified diff for an update, and the whole content for an added or deleted file."""
    path: Required[str]
    kind: Required[ChangeKind]
    move_to: str
    diff: str

class Interrupt(TypedDict, total=False):
    """Interrupt asks the user a question, or to approve a plan."""
    interrupt_id: Required[str]
    component_name: Required[str]
    props: Required[Any]
    surface: Required[str]

class InterruptResolved(TypedDict, total=False):
    """InterruptResolved closes an interrupt."""
    interrupt_id: Required[str]
    value: Required[Any]
    by: Required[By]

Level = Literal["info", "warning", "error"]

class Media(TypedDict, total=False):
    """Media is an image, a sound or a document that a tool gave. The event refers to the bytes by their hash and does not hold them."""
    kind: Required[MediaKind]
    mime: Required[str]
    size: Required[int]
    sha256: Required[str]

MediaKind = Literal["image", "audio", "document"]

class ModeChanged(TypedDict, total=False):
    """ModeChanged reports the permission mode in force."""
    value: Required[str]

class ModelChanged(TypedDict, total=False):
    """ModelChanged reports the model in force."""
    value: Required[str]

class Notice(TypedDict, total=False):
    """Notice reports something that does not end the turn: an unknown message, garbage, a retry, a warning. Raw is the message as it was received."""
    level: Required[Level]
    code: Required[NoticeCode]
    text: str
    raw: Any

NoticeCode = Literal["unknown_message", "garbage", "long_line", "retry", "warning", "late", "refused"]

class PermissionRequest(TypedDict, total=False):
    """PermissionRequest asks whether a tool may run."""
    request_id: Required[str]
    tool_use_id: str
    tool_name: Required[str]
    tool_input: Required[Any]
    options: List[str]
    reason: str

class PermissionResolved(TypedDict, total=False):
    """PermissionResolved follows each permission request exactly once."""
    request_id: Required[str]
    tool_name: Required[str]
    allowed: Required[bool]
    decision: Required[Decision]
    by: Required[By]

Phase = Literal["start", "end"]

class Plan(TypedDict, total=False):
    """Plan is the whole list of steps with their current statuses."""
    steps: Required[List[PlanStep]]

class PlanStep(TypedDict, total=False):
    """PlanStep is one step."""
    text: Required[str]
    status: Required[StepStatus]

class Queue(TypedDict, total=False):
    """Queue is the whole list of queued messages."""
    message_ids: Required[List[str]]

class Result(TypedDict, total=False):
    """Result is the final text of a turn, if the runtime sends one. It does not add a second copy to the chat."""
    text: Required[str]
    stats: Stats

Scope = Literal["request", "turn", "session"]

class SessionEnd(TypedDict, total=False):
    """SessionEnd is the last event of a session. Reason is "closed" if the client closed the session, and otherwise says in free words why it ended. ExitCode is the exit code of the process, if it is known. If a signal ended the process, it is missing, -1, 128 and the signal's number, or that number negated."""
    reason: Required[str]
    exit_code: int

class SessionReady(TypedDict, total=False):
    """SessionReady is the first event of a session."""
    session_id: Required[str]
    runtime: Required[str]
    runtime_version: str
    provider_session_id: str
    resumed: bool
    forked_from: str
    model: str
    cwd: str
    mode: str

class Stats(TypedDict, total=False):
    """Stats are the runtime's own figures of a turn. Durations are milliseconds."""
    duration_ms: int
    rounds: int

StepStatus = Literal["pending", "in_progress", "completed"]

class Task(TypedDict, total=False):
    """Task reports work that may outlive its turn. A sub-agent's TaskID is the subagent_id of its events."""
    task_id: Required[str]
    kind: Required[TaskKind]
    parent_id: str
    tool_use_id: str
    name: str
    status: Required[TaskStatus]
    text: str
    usage: Tokens

TaskKind = Literal["subagent", "command"]

TaskStatus = Literal["running", "completed", "failed", "stopped", "interrupted"]

class Thinking(TypedDict, total=False):
    """Thinking is a fragment of visible reasoning. Done closes the block. Without text it only signals activity."""
    text: Required[str]
    done: bool
    block_id: str

class Tokens(TypedDict, total=False):
    """Tokens counts tokens."""
    input: Required[int]
    cached: int
    output: Required[int]
    reasoning: int
    total: int

class ToolInput(TypedDict, total=False):
    """ToolInput is a piece of the input of a call that the model still writes, before the call's tool_start. It is emitted only if the session was opened with stream_tool_input. The first piece has the tool's name. The texts, joined, are the JSON of the input. A call that does not start, because its message was cut off or taken back, is dropped: its last piece states it."""
    tool_use_id: Required[str]
    tool: str
    text: Required[str]
    dropped: bool

class ToolOutput(TypedDict, total=False):
    """ToolOutput is a part of a running tool's output. The beginning may be missing."""
    tool_use_id: Required[str]
    text: Required[str]

class ToolProgress(TypedDict, total=False):
    """ToolProgress is what the runtime states about a tool that runs, between its tool_start and its tool_result: how far it is, for how long it runs, or what it does. A later one replaces it. It has at least one of message, progress and elapsed_ms."""
    tool_use_id: Required[str]
    message: str
    progress: float
    total: float
    elapsed_ms: int

class ToolResult(TypedDict, total=False):
    """ToolResult closes a tool call. Each call has exactly one."""
    tool_use_id: Required[str]
    output: Required[str]
    is_error: Required[bool]
    status: Required[ToolStatus]
    exit_code: int
    changes: List[FileChange]
    file_path: str
    is_file_read: bool
    truncated: bool
    media: List[Media]

class ToolStart(TypedDict, total=False):
    """ToolStart announces a tool call. Input is the call's input as the runtime sent it; the fields below it repeat the parts that a UI shows first."""
    tool_use_id: Required[str]
    tool: Required[str]
    input: Any
    command: str
    file_path: str
    pattern: str
    search_path: str
    query: str
    url: str
    is_file_read: bool
    background: bool
    subagent_spawn: bool
    subagent_name: str
    message_id: str

ToolStatus = Literal["ok", "error", "denied", "interrupted", "backgrounded"]

class TurnStart(TypedDict, total=False):
    """TurnStart begins a turn. MessageIDs are the client's messages that caused it."""
    cause: Required[Cause]
    message_ids: Required[List[str]]
    provider_turn_id: str

class Usage(TypedDict, total=False):
    """Usage reports tokens, the scope that they count, and the cost (US dollars, cumulative for the session whatever the scope)."""
    tokens: Required[Tokens]
    scope: Scope
    cost: float
    context: Context

class UserMessage(TypedDict, total=False):
    """UserMessage is emitted when the runtime takes a message."""
    message_id: Required[str]
    text: Required[str]
    attachments: List[Attachment]
    via: Required[Via]

Via = Literal["turn", "merge", "steer"]

class OpenCommandAfter(TypedDict, total=False):
    """Where the stream of a resumed session left off: continue to count seq and turn."""
    seq: Required[int]
    turn: Required[int]

class OpenCommandMcp(TypedDict, total=False):
    name: Required[str]
    command: str
    args: List[str]
    env: Dict[str, str]
    type: Literal["http", "sse"]
    url: str
    headers: Dict[str, str]

class OpenCommandLimits(TypedDict, total=False):
    """How long the program waits in this session, in milliseconds. Only where a case needs it."""
    start_ms: Required[int]
    stop_ms: Required[int]
    stall_ms: Required[int]

class OpenCommandTools(TypedDict, total=False):
    name: Required[str]
    description: str
    schema: Any
    read_only: bool

class OpenCommandHooks(TypedDict, total=False):
    event: Required[str]
    matcher: str
    timeout_s: float

class OpenCommand(TypedDict, total=False):
    """The command open."""
    session_id: Required[str]
    dir: Required[str]
    command: Required[List[str]]
    args: List[str]
    mode: Required[str]
    model: str
    resume: str
    fork: bool
    at: str
    unarchive: bool
    checkpoints: bool
    instructions: str
    replace_instructions: bool
    effort: str
    max_requests: int
    max_cost: float
    extra_dirs: List[str]
    setting_sources: List[str]
    stream_tool_input: bool
    after: OpenCommandAfter
    mcp: List[OpenCommandMcp]
    questions: bool
    schema: Any
    policy: Dict[str, Any]
    limits: OpenCommandLimits
    tools: List[OpenCommandTools]
    hooks: List[OpenCommandHooks]
    components: Any

class SendCommandFiles(TypedDict, total=False):
    kind: Required[str]
    name: str
    path: str
    url: str
    mime: str

class SendCommand(TypedDict, total=False):
    """The command send."""
    message_id: Required[str]
    text: Required[str]
    files: List[SendCommandFiles]
    priority: Literal["now", "next", "later"]

class AnswerCommand(TypedDict, total=False):
    """The command answer."""
    request_id: Required[str]
    decision: Literal["allow", "deny", "cancel"]
    message: str
    input: Any
    value: Any
    scope: Literal["session", "always"]

StopCommand = Dict[str, Any]

class SteerCommand(TypedDict, total=False):
    """The command steer."""
    message_id: Required[str]
    text: Required[str]

class SetModelCommand(TypedDict, total=False):
    """The command set_model."""
    model: Required[str]

class SetModeCommand(TypedDict, total=False):
    """The command set_mode."""
    mode: Required[str]

StopAllCommand = Dict[str, Any]

class StopTaskCommand(TypedDict, total=False):
    """The command stop_task."""
    task_id: Required[str]

class WithdrawCommand(TypedDict, total=False):
    """The command withdraw."""
    message_id: Required[str]

class RevertCommand(TypedDict, total=False):
    """The command revert."""
    message_id: Required[str]

class RewindCommand(TypedDict, total=False):
    """The command rewind."""
    message_id: Required[str]
    dry: bool

CompactCommand = Dict[str, Any]

ArchiveCommand = Dict[str, Any]

class RenameCommand(TypedDict, total=False):
    """The command rename."""
    text: Required[str]

class ListCommand(TypedDict, total=False):
    """The command list."""
    list: Required[Literal["models", "commands", "mcp", "account", "sessions"]]

CloseCommand = Dict[str, Any]

class ResultCommandContent(TypedDict, total=False):
    text: str
    image: str
    mime: str

class ResultCommand(TypedDict, total=False):
    """The command result."""
    call: Required[str]
    content: List[ResultCommandContent]
    is_error: bool
    output: Any
    error: str

EventType = Literal[
    "block_end",
    "checkpoint",
    "compaction",
    "component_remove",
    "component_update",
    "delta",
    "done",
    "error",
    "interrupt",
    "interrupt_resolved",
    "mode_changed",
    "model_changed",
    "notice",
    "permission_request",
    "permission_resolved",
    "plan",
    "queue",
    "result",
    "session_end",
    "session_ready",
    "task",
    "thinking",
    "tool_input",
    "tool_output",
    "tool_progress",
    "tool_result",
    "tool_start",
    "turn_start",
    "usage",
    "user_message",
]

Runtime = Literal["acp", "chat", "claude", "codex", "codexexec", "opencode", "opencoderun", "pi"]
