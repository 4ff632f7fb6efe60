package message

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Message is what a runner writes: one of the structs of this package.
type Message interface {
	// Type returns the value of the member type.
	Type() string
}

// Encode returns a message as one line, with its line end. Equal messages become equal lines.
func Encode(m Message) ([]byte, error) {
	b, err := json.Marshal(m, jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Type(), err)
	}
	line := append([]byte(`{"type":"`), m.Type()...)
	line = append(line, '"')
	if len(b) > len(`{}`) {
		line = append(line, ',')
	}
	line = append(line, b[1:]...)
	return append(line, '\n'), nil
}

// Write writes messages as lines.
func Write(w io.Writer, all ...Message) error {
	for _, m := range all {
		line, err := Encode(m)
		if err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// The life of a conversation.
type (
	// Ready is the first message, unless the session cannot be opened: the runner takes commands.
	Ready struct {
		ConversationID string `json:"conversation_id"`
		Runtime        string `json:"runtime"`
		Cwd            string `json:"cwd,omitempty"`
	}
	// Init says what the session was opened with.
	Init struct {
		Model          string   `json:"model,omitempty"`
		PermissionMode string   `json:"permission_mode,omitempty"`
		ToolPreset     string   `json:"tool_preset,omitempty"`
		MCPServers     []string `json:"mcp_servers,omitempty"`
		Version        string   `json:"runtime_version,omitempty"`
	}
	// SessionStarted says that the runtime is ready.
	SessionStarted struct {
		SessionID  string `json:"session_id,omitempty"` // the runtime's own
		Resumed    bool   `json:"resumed,omitzero"`
		ForkedFrom string `json:"forked_from,omitempty"`
	}
	// SessionIDUpdate holds the runtime's id of the session, for --resume.
	SessionIDUpdate struct {
		SessionID string `json:"session_id"`
	}
	// SessionEnded says that the runtime has ended.
	SessionEnded struct {
		Reason   string `json:"reason"`
		ExitCode *int   `json:"exit_code,omitempty"`
	}
	// TurnStart begins a turn: that of the user's messages, or one that the runtime began by
	// itself.
	TurnStart struct {
		Turn  int         `json:"turn"`
		Cause event.Cause `json:"cause"`
		IDs   []string    `json:"ids,omitempty"` // of the messages
	}
	// TurnComplete follows the result of a turn. The runner takes the next message.
	TurnComplete struct {
		Turn int `json:"turn"`
	}
	// Complete says that no turn follows.
	Complete struct{}
	// Shutdown is the last message.
	Shutdown struct {
		Reason string `json:"reason"`
	}
)

// What the model says.
type (
	// AssistantText is a piece of the model's text. See the package's documentation.
	AssistantText struct {
		Content string `json:"content"`
		BlockID string `json:"block_id,omitempty"`
	}
	// TextRetracted says that the text of a block is not valid any more.
	TextRetracted struct {
		BlockID string `json:"block_id"`
	}
	// ThinkingStart begins a block of reasoning.
	ThinkingStart struct {
		BlockID string `json:"block_id,omitempty"`
	}
	// ThinkingDelta is a piece of reasoning.
	ThinkingDelta struct {
		Content string `json:"content"`
		BlockID string `json:"block_id,omitempty"`
	}
	// Thinking ends a block of reasoning, and holds all of it.
	Thinking struct {
		Content string `json:"content"`
		BlockID string `json:"block_id,omitempty"`
	}
)

// What the model does.
type (
	// ToolStart begins a call of a tool.
	ToolStart struct {
		ID      string    `json:"id"`
		Tool    string    `json:"tool"`
		Params  event.Raw `json:"params,omitzero"`
		AgentID string    `json:"agent_id,omitempty"`
	}
	// ToolOutput is a piece of the output of a running tool.
	ToolOutput struct {
		ID      string `json:"id"`
		Content string `json:"content"`
		AgentID string `json:"agent_id,omitempty"`
	}
	// ToolProgress says how long a tool has been running: at intervals by the clock of the
	// runner, and when the runtime states it. It has no place for what else a runtime states.
	ToolProgress struct {
		ID        string `json:"id"`
		Tool      string `json:"tool"`
		ElapsedMS int64  `json:"elapsed_ms"`
		AgentID   string `json:"agent_id,omitempty"`
	}
	// ToolEnd ends a call. Summary is the beginning of its output.
	ToolEnd struct {
		ID         string           `json:"id"`
		Tool       string           `json:"tool"`
		Success    bool             `json:"success"`
		Status     event.ToolStatus `json:"status"`
		Summary    string           `json:"summary,omitempty"`
		DurationMS int64            `json:"duration_ms"`
		Background bool             `json:"background,omitzero"`
		AgentID    string           `json:"agent_id,omitempty"`
	}
	// HookPreTool comes before a tool starts.
	HookPreTool struct {
		ID      string `json:"id"`
		Tool    string `json:"tool"`
		AgentID string `json:"agent_id,omitempty"`
	}
	// HookPostTool comes after a tool has ended.
	HookPostTool struct {
		ID      string `json:"id"`
		Tool    string `json:"tool"`
		Success bool   `json:"success"`
		AgentID string `json:"agent_id,omitempty"`
	}
	// SubagentStarted says that a sub-agent has begun.
	SubagentStarted struct {
		AgentID         string `json:"agent_id"`
		AgentType       string `json:"agent_type,omitempty"`
		ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
	}
	// SubagentStopped says that a sub-agent has ended.
	SubagentStopped struct {
		AgentID string           `json:"agent_id"`
		Status  event.TaskStatus `json:"status"`
	}
)

// What the model asks. Each request has one answer: permission_resolved or request_resolved.
type (
	// PermissionRequest asks whether a tool may run.
	PermissionRequest struct {
		RequestID string    `json:"request_id"`
		Tool      string    `json:"tool"`
		ToolID    string    `json:"tool_id,omitempty"`
		Params    event.Raw `json:"params,omitzero"`
		Reason    string    `json:"reason,omitempty"`
	}
	// PermissionResolved says how it was answered.
	PermissionResolved struct {
		RequestID string         `json:"request_id"`
		Decision  event.Decision `json:"decision"`
		By        event.By       `json:"by"`
	}
	// UserQuestionRequest asks the user something. Props are as the runtime sent them.
	UserQuestionRequest struct {
		RequestID string    `json:"request_id"`
		Component string    `json:"component"`
		Props     event.Raw `json:"props,omitzero"`
	}
	// PlanApprovalRequest asks the user to approve a plan.
	PlanApprovalRequest struct {
		RequestID string    `json:"request_id"`
		Props     event.Raw `json:"props,omitzero"`
	}
	// RequestResolved ends a question or a request to approve a plan.
	RequestResolved struct {
		RequestID string    `json:"request_id"`
		Value     event.Raw `json:"value,omitzero"`
		By        event.By  `json:"by"`
	}
)

// What is left to do.
type (
	// TodoUpdate is the whole list of steps.
	TodoUpdate struct {
		Todos []Todo `json:"todos"`
	}
	// Todo is a step.
	Todo struct {
		Content string           `json:"content"`
		Status  event.StepStatus `json:"status"`
	}
	// Queue is the whole list of messages that wait for the end of the turn.
	Queue struct {
		IDs []string `json:"ids"`
	}
)

// Figures.
type (
	// Result sums up a turn.
	Result struct {
		Success    bool          `json:"success"`
		Text       string        `json:"text,omitempty"` // the final text, if the runtime states it
		Reason     string        `json:"reason,omitempty"`
		Error      string        `json:"error,omitempty"`
		Cost       *float64      `json:"cost,omitempty"` // US dollars, of the session so far
		Usage      *event.Tokens `json:"usage,omitempty"`
		DurationMS int64         `json:"duration_ms"`
		Stats      Stats         `json:"stats"`
	}
	// ContextUsage counts tokens.
	ContextUsage struct {
		event.Tokens
	}
	// ContextWindowSize says how much of the model's window is used.
	ContextWindowSize struct {
		event.Context
	}
	// CompactBoundary says that the history is being summarized, or was.
	CompactBoundary struct {
		Phase event.Phase `json:"phase"`
	}
)

// Files.
type (
	// CheckpointCreated says that the files can be restored to this state.
	CheckpointCreated struct {
		CheckpointID string `json:"checkpoint_id"`
	}
	// FilesRewound says that they were, or would be with a dry run.
	FilesRewound struct {
		CheckpointID string   `json:"checkpoint_id"`
		Files        []string `json:"files,omitempty"`
		Insertions   int      `json:"insertions,omitzero"`
		Deletions    int      `json:"deletions,omitzero"`
		DryRun       bool     `json:"dry_run,omitzero"`
	}
)

// Listing answers a command that requests a list.
type Listing struct {
	Request string            `json:"request"` // the type of the command
	Entries []adapters.Listed `json:"entries"`
}

// Settings.
type (
	// ModelChanged names the model in force.
	ModelChanged struct {
		Model string `json:"model"`
	}
	// PermissionModeChanged names the permission mode in force.
	PermissionModeChanged struct {
		Mode string `json:"mode"`
	}
)

// How it went.
type (
	// AgentNotification is a notice that ends nothing.
	AgentNotification struct {
		Level   event.Level      `json:"level"`
		Code    event.NoticeCode `json:"code"`
		Message string           `json:"message"`
	}
	// AgentStop says that the agent works no longer on this turn.
	AgentStop struct {
		Stopped bool `json:"stopped,omitzero"`
	}
	// Interrupted says that the user stopped the turn.
	Interrupted struct{}
	// AuthError says that the runtime has no valid key.
	AuthError struct {
		Message string `json:"message"`
	}
	// Error is any other failure: of a turn, of a request, or of the runner.
	Error struct {
		Code    event.ErrorCode `json:"code"`
		Message string          `json:"message"`
		Request string          `json:"request,omitempty"` // the type of the request that failed
	}
)

// Stats counts what the tools of a turn did.
type Stats struct {
	ToolCalls           int            `json:"tool_calls"`
	ToolsByType         map[string]int `json:"tools_by_type,omitempty"`
	SubAgents           int            `json:"sub_agents"`
	FilesRead           int            `json:"files_read"`
	FilesWritten        int            `json:"files_written"`
	BashCommands        int            `json:"bash_commands"`
	WebSearches         int            `json:"web_searches"`
	TotalToolDurationMS int64          `json:"total_tool_duration_ms"`
}
