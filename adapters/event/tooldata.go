package event

// ToolStart announces a tool call. Input is the call's input as the runtime sent
// it; the fields below it repeat the parts that a UI shows first.
type ToolStart struct {
	ToolUseID     string `json:"tool_use_id"`
	Tool          string `json:"tool"`
	Input         Raw    `json:"input,omitzero"`
	Command       string `json:"command,omitempty"`
	FilePath      string `json:"file_path,omitempty"`
	Pattern       string `json:"pattern,omitempty"`
	SearchPath    string `json:"search_path,omitempty"`
	IsFileRead    bool   `json:"is_file_read,omitzero"`
	Background    bool   `json:"background,omitzero"`
	SubagentSpawn bool   `json:"subagent_spawn,omitzero"`
	SubagentName  string `json:"subagent_name,omitempty"`
	MessageID     string `json:"message_id,omitempty"`
}

// ToolOutput is a part of a running tool's output. The beginning may be missing.
type ToolOutput struct {
	ToolUseID string `json:"tool_use_id"`
	Text      string `json:"text"`
}

// ToolStatus is how a tool ended.
type ToolStatus string

// The statuses of a tool at its end.
const (
	ToolOK           ToolStatus = "ok"
	ToolError        ToolStatus = "error"
	ToolDenied       ToolStatus = "denied"
	ToolInterrupted  ToolStatus = "interrupted"
	ToolBackgrounded ToolStatus = "backgrounded"
)

// ToolResult closes a tool call. Each call has exactly one.
type ToolResult struct {
	ToolUseID  string       `json:"tool_use_id"`
	Output     string       `json:"output"`
	IsError    bool         `json:"is_error"`
	Status     ToolStatus   `json:"status"`
	ExitCode   *int         `json:"exit_code,omitempty"`
	Changes    []FileChange `json:"changes,omitempty"`
	FilePath   string       `json:"file_path,omitempty"`
	IsFileRead bool         `json:"is_file_read,omitzero"`
}

// ChangeKind is what a change did to a file.
type ChangeKind string

// The kinds of change.
const (
	ChangeAdd    ChangeKind = "add"
	ChangeUpdate ChangeKind = "update"
	ChangeDelete ChangeKind = "delete"
	ChangeMove   ChangeKind = "move"
)

// FileChange is one changed file. Diff is a unified diff for an update, and the
// whole content for an added or deleted file.
type FileChange struct {
	Path   string     `json:"path"`
	Kind   ChangeKind `json:"kind"`
	MoveTo string     `json:"move_to,omitempty"`
	Diff   string     `json:"diff,omitempty"`
}

// TaskKind is the kind of a task.
type TaskKind string

// The kinds of task.
const (
	TaskSubagent TaskKind = "subagent"
	TaskCommand  TaskKind = "command"
)

// TaskStatus is a task's state.
type TaskStatus string

// The states of a task.
const (
	TaskRunning     TaskStatus = "running"
	TaskCompleted   TaskStatus = "completed"
	TaskFailed      TaskStatus = "failed"
	TaskStopped     TaskStatus = "stopped"
	TaskInterrupted TaskStatus = "interrupted"
)

// Task reports work that may outlive its turn. A sub-agent's TaskID is the
// subagent_id of its events.
type Task struct {
	TaskID    string     `json:"task_id"`
	Kind      TaskKind   `json:"kind"`
	ParentID  string     `json:"parent_id,omitempty"`
	ToolUseID string     `json:"tool_use_id,omitempty"`
	Name      string     `json:"name,omitempty"`
	Status    TaskStatus `json:"status"`
	Text      string     `json:"text,omitempty"`
	Usage     *Tokens    `json:"usage,omitempty"`
}
