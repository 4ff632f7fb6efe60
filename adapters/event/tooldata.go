package event

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// ToolStart announces a tool call. Input is the call's input as the runtime sent
// it; the fields below it repeat the parts that a UI shows first.
type ToolStart struct {
	ToolUseID     string `json:"tool_use_id"`
	Tool          string `json:"tool"`
	Input         Raw    `json:"input,omitzero"`
	Command       string `json:"command,omitempty"`
	FilePath      string `json:"file_path,omitempty"`
	Pattern       string `json:"pattern,omitempty"`
	SearchPath    string `json:"search_path,omitempty"` // the folder in which pattern is looked for
	Query         string `json:"query,omitempty"`       // of a WebSearch
	URL           string `json:"url,omitempty"`         // the page of a WebFetch
	IsFileRead    bool   `json:"is_file_read,omitzero"`
	Background    bool   `json:"background,omitzero"`     // it was started to run on after its result
	SubagentSpawn bool   `json:"subagent_spawn,omitzero"` // the call starts a sub-agent
	SubagentName  string `json:"subagent_name,omitempty"`
	MessageID     string `json:"message_id,omitempty"` // the runtime's message that holds the call
}

// ToolInput is a piece of the input of a call that the model still writes, before the call's
// tool_start. It is emitted only if the session was opened with stream_tool_input. The first
// piece has the tool's name. The texts, joined, are the JSON of the input. A call that does not
// start, because its message was cut off or taken back, is dropped: its last piece states it.
type ToolInput struct {
	ToolUseID string `json:"tool_use_id"`
	Tool      string `json:"tool,omitempty"` // of the first piece
	Text      string `json:"text"`
	Dropped   bool   `json:"dropped,omitzero"` // the call does not start
}

// ToolOutput is a part of a running tool's output. The beginning may be missing.
type ToolOutput struct {
	ToolUseID string `json:"tool_use_id"`
	Text      string `json:"text"`
}

// ToolProgress is what the runtime states about a tool that runs, between its tool_start and its
// tool_result: how far it is, for how long it runs, or what it does. A later one replaces it.
// It has at least one of message, progress and elapsed_ms.
type ToolProgress struct {
	ToolUseID string   `json:"tool_use_id"`
	Message   string   `json:"message,omitempty"`   // what the tool does, in its words
	Progress  *float64 `json:"progress,omitempty"`  // how far it is, in a unit of the tool's own
	Total     *float64 `json:"total,omitempty"`     // progress at the end
	ElapsedMS int64    `json:"elapsed_ms,omitzero"` // milliseconds since it began
}

// ToolStatus is how a tool ended: ok; error; denied, it was not allowed to run;
// interrupted, it was stopped, or its result never came; backgrounded, its call returned
// and it still runs, as a task.
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
	Truncated  bool         `json:"truncated,omitzero"` // the runtime states that output is a part of the tool's output
	Media      []Media      `json:"media,omitempty"`    // what the tool gave besides text, in order
}

// MediaKind is the kind of a Media.
type MediaKind string

// The kinds of media.
const (
	MediaImage    MediaKind = "image"
	MediaAudio    MediaKind = "audio"
	MediaDocument MediaKind = "document"
)

// Media is an image, a sound or a document that a tool gave. The event refers to the bytes by
// their hash and does not hold them.
type Media struct {
	Kind   MediaKind `json:"kind"`
	MIME   string    `json:"mime"`
	Size   int64     `json:"size"`   // in bytes
	SHA256 string    `json:"sha256"` // of the bytes, in hexadecimal digits
}

// MediaOf describes bytes.
func MediaOf(kind MediaKind, mime string, data []byte) Media {
	return Media{Kind: kind, MIME: mime, Size: int64(len(data)), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}
}

// MediaKindOf returns the kind of bytes with a MIME type.
func MediaKindOf(mime string) MediaKind {
	top, _, _ := strings.Cut(mime, "/")
	if kind := MediaKind(top); kind == MediaImage || kind == MediaAudio {
		return kind
	}
	return MediaDocument
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
	MoveTo string     `json:"move_to,omitempty"` // the new path, of a move
	Diff   string     `json:"diff,omitempty"`    // a unified diff; the whole content of an added or deleted file
}

// TaskKind is the kind of a task: a sub-agent, or a command in the background.
type TaskKind string

// The kinds of task.
const (
	TaskSubagent TaskKind = "subagent"
	TaskCommand  TaskKind = "command"
)

// TaskStatus is a task's state: running; completed; failed; stopped, the client or the
// runtime ended it; interrupted, it was cut off with its turn or session.
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
