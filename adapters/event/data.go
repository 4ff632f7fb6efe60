package event

// SessionReady is the first event of a session.
type SessionReady struct {
	SessionID         string `json:"session_id"`
	Runtime           string `json:"runtime"`
	RuntimeVersion    string `json:"runtime_version,omitempty"`
	ProviderSessionID string `json:"provider_session_id,omitempty"`
	Resumed           bool   `json:"resumed,omitzero"`
	ForkedFrom        string `json:"forked_from,omitempty"`
	Model             string `json:"model,omitempty"`
	Cwd               string `json:"cwd,omitempty"`
	Mode              string `json:"mode,omitempty"`
}

// SessionEnd is the last event of a session. Reason is "closed" if the client closed the
// session, and otherwise says in free words why it ended. ExitCode is the exit code of the
// process, if it is known. If a signal ended the process, it is missing, -1, 128 and the
// signal's number, or that number negated.
type SessionEnd struct {
	Reason   string `json:"reason"`
	ExitCode *int   `json:"exit_code,omitempty"`
}

// Cause is why a turn began: user, a message of the client; task, the runtime itself
// began it, because a task in the background ended; command, a command that is no
// message, such as compact.
type Cause string

// The causes of a turn.
const (
	CauseUser    Cause = "user"
	CauseTask    Cause = "task"
	CauseCommand Cause = "command"
)

// TurnStart begins a turn. MessageIDs are the client's messages that caused it.
type TurnStart struct {
	Cause          Cause    `json:"cause"`
	MessageIDs     []string `json:"message_ids"`
	ProviderTurnID string   `json:"provider_turn_id,omitempty"`
}

// Via is how a user's message entered a turn: turn, the turn began with it; merge, it
// was sent with send, and the runtime took it into a turn that began with another
// message; steer, it was sent with steer into the running turn.
type Via string

// The ways in which a message enters a turn.
const (
	ViaTurn  Via = "turn"
	ViaMerge Via = "merge"
	ViaSteer Via = "steer"
)

// UserMessage is emitted when the runtime takes a message.
type UserMessage struct {
	MessageID   string       `json:"message_id"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Via         Via          `json:"via"`
}

// Attachment is an attachment of a user's message.
type Attachment struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	Path string `json:"path,omitempty"`
	URL  string `json:"url,omitempty"`
	MIME string `json:"mime,omitempty"`
}

// Queue is the whole list of queued messages.
type Queue struct {
	MessageIDs []string `json:"message_ids"`
}

// Delta is a fragment of visible text. MessageID is the runtime's message. BlockID
// is the block of text, unique within the session: the fragments of a block belong
// together, and different blocks are different paragraphs.
type Delta struct {
	Text      string `json:"text"`
	MessageID string `json:"message_id"`
	BlockID   string `json:"block_id"`
}

// Thinking is a fragment of visible reasoning. Done closes the block. Without text
// it only signals activity.
type Thinking struct {
	Text    string `json:"text"`
	Done    bool   `json:"done,omitzero"`
	BlockID string `json:"block_id,omitempty"`
}

// BlockStatus is how a block of text ended: complete; replaced, text of block_end is the
// authoritative text; interrupted, cut off by a stop, an error or the end of the runtime;
// retracted, the runtime took it back, so that it is not shown any more.
type BlockStatus string

// The statuses of a block at its end. With replaced, Text is the authoritative text.
const (
	BlockComplete    BlockStatus = "complete"
	BlockReplaced    BlockStatus = "replaced"
	BlockInterrupted BlockStatus = "interrupted"
	BlockRetracted   BlockStatus = "retracted"
)

// BlockEnd closes a block of text, or retracts one of reasoning.
type BlockEnd struct {
	BlockID string      `json:"block_id"`
	Status  BlockStatus `json:"status"`
	Text    string      `json:"text,omitempty"`
}

// PermissionRequest asks whether a tool may run.
type PermissionRequest struct {
	RequestID string   `json:"request_id"`
	ToolUseID string   `json:"tool_use_id,omitempty"`
	ToolName  string   `json:"tool_name"`
	ToolInput Raw      `json:"tool_input"`
	Options   []string `json:"options,omitempty"`
	Reason    string   `json:"reason,omitempty"`
}

// Decision is the answer to a permission request. cancel denies and ends the turn.
type Decision string

// The decisions. Cancel denies and ends the turn.
const (
	DecisionAllow  Decision = "allow"
	DecisionDeny   Decision = "deny"
	DecisionCancel Decision = "cancel"
)

// By is who decided: the user, a policy of the client, or the runtime; withdrawn means
// that the runtime withdrew the question.
type By string

// The values of By. Withdrawn means that the runtime withdrew the question.
const (
	ByUser      By = "user"
	ByPolicy    By = "policy"
	ByRuntime   By = "runtime"
	ByWithdrawn By = "withdrawn"
)

// PermissionResolved follows each permission request exactly once.
type PermissionResolved struct {
	RequestID string   `json:"request_id"`
	ToolName  string   `json:"tool_name"`
	Allowed   bool     `json:"allowed"`
	Decision  Decision `json:"decision"`
	By        By       `json:"by"`
}

// Interrupt asks the user a question, or to approve a plan.
type Interrupt struct {
	InterruptID   string `json:"interrupt_id"`
	ComponentName string `json:"component_name"`
	Props         Raw    `json:"props"`
	Surface       string `json:"surface"`
}

// InterruptResolved closes an interrupt.
type InterruptResolved struct {
	InterruptID string `json:"interrupt_id"`
	Value       Raw    `json:"value"`
	By          By     `json:"by"`
}

// Plan is the whole list of steps with their current statuses.
type Plan struct {
	Steps []PlanStep `json:"steps"`
}

// StepStatus is the state of a plan's step.
type StepStatus string

// The states of a step.
const (
	StepPending    StepStatus = "pending"
	StepInProgress StepStatus = "in_progress"
	StepCompleted  StepStatus = "completed"
)

// PlanStep is one step.
type PlanStep struct {
	Text   string     `json:"text"`
	Status StepStatus `json:"status"`
}

// Tokens counts tokens.
type Tokens struct {
	Input     int64 `json:"input"`
	Cached    int64 `json:"cached,omitzero"`
	Output    int64 `json:"output"`
	Reasoning int64 `json:"reasoning,omitzero"`
	Total     int64 `json:"total,omitzero"`
}

// Context is how much of the model's window is used, in tokens.
type Context struct {
	Used   int64 `json:"used"`
	Window int64 `json:"window"`
}

// Scope is what the tokens of a usage count: request, one reply of the model; turn, the
// turn so far; session, the session so far. Tokens of the scope request add up; of the
// others the last event counts: the tokens of a session are the last usage of the scope
// session, or the sum of the last usages of its turns.
type Scope string

// The scopes of a usage.
const (
	ScopeRequest Scope = "request"
	ScopeTurn    Scope = "turn"
	ScopeSession Scope = "session"
)

// Usage reports tokens, the scope that they count, and the cost (US dollars, cumulative
// for the session whatever the scope).
type Usage struct {
	Tokens  Tokens   `json:"tokens"`
	Scope   Scope    `json:"scope,omitempty"`
	Cost    *float64 `json:"cost,omitempty"`
	Context *Context `json:"context,omitempty"`
}

// Phase is the phase of a compaction.
type Phase string

// The phases of a compaction.
const (
	PhaseStart Phase = "start"
	PhaseEnd   Phase = "end"
)

// Compaction reports that history is being summarized.
type Compaction struct {
	Phase  Phase `json:"phase"`
	Tokens int64 `json:"tokens,omitzero"`
}

// ComponentUpdate creates, replaces or merges a component on a surface.
type ComponentUpdate struct {
	ComponentID   string `json:"component_id"`
	ComponentName string `json:"component_name"`
	Props         Raw    `json:"props"`
	Surface       string `json:"surface"`
	Merge         bool   `json:"merge,omitzero"`
}

// ComponentRemove removes a component.
type ComponentRemove struct {
	ComponentID string `json:"component_id"`
}

// ModelChanged reports the model in force.
type ModelChanged struct {
	Value string `json:"value"`
}

// ModeChanged reports the permission mode in force.
type ModeChanged struct {
	Value string `json:"value"`
}

// CheckpointAction is what happened to a checkpoint.
type CheckpointAction string

// What happens to checkpoints.
const (
	CheckpointCreated  CheckpointAction = "created"
	CheckpointRestored CheckpointAction = "restored"
)

// Checkpoint reports a checkpoint.
type Checkpoint struct {
	CheckpointID string           `json:"checkpoint_id"`
	Action       CheckpointAction `json:"action"`
}

// Level is the severity of a notice.
type Level string

// The levels of a notice.
const (
	LevelInfo    Level = "info"
	LevelWarning Level = "warning"
	LevelError   Level = "error"
)

// NoticeCode is the kind of a notice. The list is closed.
type NoticeCode string

// The codes of notices.
const (
	NoticeUnknownMessage NoticeCode = "unknown_message"
	NoticeGarbage        NoticeCode = "garbage"
	NoticeLongLine       NoticeCode = "long_line"
	NoticeRetry          NoticeCode = "retry"
	NoticeWarning        NoticeCode = "warning"
	NoticeLate           NoticeCode = "late"
	NoticeRefused        NoticeCode = "refused"
)

// Notice reports something that does not end the turn: an unknown message, garbage,
// a retry, a warning. Raw is the message as it was received.
type Notice struct {
	Level Level      `json:"level"`
	Code  NoticeCode `json:"code"`
	Text  string     `json:"text,omitempty"`
	Raw   Raw        `json:"raw,omitzero"`
}

// Result is the final text of a turn, if the runtime sends one. It does not add a
// second copy to the chat.
type Result struct {
	Text  string `json:"text"`
	Stats *Stats `json:"stats,omitzero"`
}

// Stats are the runtime's own figures of a turn. Durations are milliseconds.
type Stats struct {
	DurationMS int64 `json:"duration_ms,omitzero"`
	Rounds     int   `json:"rounds,omitzero"`
}

// ErrorCode is the kind of an error. The list is closed.
type ErrorCode string

// The codes of errors.
const (
	ErrorAuth         ErrorCode = "auth"
	ErrorRateLimit    ErrorCode = "rate_limit"
	ErrorOverloaded   ErrorCode = "overloaded"
	ErrorBilling      ErrorCode = "billing"
	ErrorInvalid      ErrorCode = "invalid_request"
	ErrorContext      ErrorCode = "context_window"
	ErrorModel        ErrorCode = "model"
	ErrorNetwork      ErrorCode = "network"
	ErrorLimit        ErrorCode = "limit"
	ErrorCrash        ErrorCode = "crash"
	ErrorTimeout      ErrorCode = "timeout"
	ErrorProtocol     ErrorCode = "protocol"
	ErrorUnknown      ErrorCode = "unknown"
	ErrorStartFailure ErrorCode = "start_failure"
)

// Error ends its scope: the turn if it has one, else the session.
type Error struct {
	Message string    `json:"message"`
	Code    ErrorCode `json:"code"`
}

// Done ends a turn. Reason is the runtime's name for the end of the turn: terminal_reason
// of Claude Code's result, not stop_reason, and the status of Codex's turn. It may be
// missing, above all if the turn was completed. It is "closed" if the client closed the
// session in the turn, and the runtime named no end.
type Done struct {
	Stopped  bool   `json:"stopped,omitzero"`
	Reason   string `json:"reason,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"`
}
