package conversation

import "github.com/turnspec/turnspec/adapters/event"

// The messages of a runner. They are not the types of adapters/backend/runner/message, which
// the runner of this module writes: a mistake that both share is a mistake that no test
// sees. Members that are not read are listed too, so that one of a wrong form is reported.
type (
	readyMessage struct {
		ConversationID string `json:"conversation_id"`
		Runtime        string `json:"runtime"`
		Cwd            string `json:"cwd"`
	}
	initMessage struct {
		Model          string   `json:"model"`
		PermissionMode string   `json:"permission_mode"`
		ToolPreset     string   `json:"tool_preset"`
		MCPServers     []string `json:"mcp_servers"`
		Version        string   `json:"runtime_version"`
	}
	sessionStartedMessage struct {
		SessionID  string `json:"session_id"` // the runtime's own
		Resumed    bool   `json:"resumed"`
		ForkedFrom string `json:"forked_from"`
	}
	sessionEndedMessage struct {
		Reason   string `json:"reason"`
		ExitCode *int   `json:"exit_code"`
	}
	turnStartMessage struct {
		Turn  int         `json:"turn"`
		Cause event.Cause `json:"cause"`
		IDs   []string    `json:"ids"` // of the messages
	}
	turnCompleteMessage struct {
		Turn int `json:"turn"`
	}
	shutdownMessage struct {
		Reason string `json:"reason"`
	}
)

// What the model writes and does.
type (
	assistantTextMessage struct {
		Content string `json:"content"`
		BlockID string `json:"block_id"`
	}
	textRetractedMessage struct {
		BlockID string `json:"block_id"`
	}
	thinkingDeltaMessage struct {
		Content string `json:"content"`
		BlockID string `json:"block_id"`
	}
	thinkingMessage struct {
		Content string `json:"content"`
		BlockID string `json:"block_id"`
	}
	toolStartMessage struct {
		ID      string    `json:"id"`
		Tool    string    `json:"tool"`
		Params  event.Raw `json:"params"`
		AgentID string    `json:"agent_id"`
	}
	toolOutputMessage struct {
		ID      string `json:"id"`
		Content string `json:"content"`
		AgentID string `json:"agent_id"`
	}
	toolEndMessage struct {
		ID         string           `json:"id"`
		Tool       string           `json:"tool"`
		Success    bool             `json:"success"`
		Status     event.ToolStatus `json:"status"`
		Summary    string           `json:"summary"`
		DurationMS int64            `json:"duration_ms"`
		Background bool             `json:"background"`
		AgentID    string           `json:"agent_id"`
	}
	subagentStartedMessage struct {
		AgentID         string `json:"agent_id"`
		AgentType       string `json:"agent_type"`
		ParentToolUseID string `json:"parent_tool_use_id"`
	}
	subagentStoppedMessage struct {
		AgentID string           `json:"agent_id"`
		Status  event.TaskStatus `json:"status"`
	}
	todoUpdateMessage struct {
		Todos []todo `json:"todos"`
	}
)

// What the model asks.
type (
	permissionRequestMessage struct {
		RequestID string    `json:"request_id"`
		Tool      string    `json:"tool"`
		ToolID    string    `json:"tool_id"`
		Params    event.Raw `json:"params"`
		Reason    string    `json:"reason"`
	}
	permissionResolvedMessage struct {
		RequestID string         `json:"request_id"`
		Decision  event.Decision `json:"decision"`
		By        event.By       `json:"by"`
	}
	userQuestionRequestMessage struct {
		RequestID string    `json:"request_id"`
		Component string    `json:"component"`
		Props     event.Raw `json:"props"`
	}
	planApprovalRequestMessage struct {
		RequestID string    `json:"request_id"`
		Props     event.Raw `json:"props"`
	}
	requestResolvedMessage struct {
		RequestID string    `json:"request_id"`
		Value     event.Raw `json:"value"`
		By        event.By  `json:"by"`
	}
)

// Figures, files, settings, and how a turn went.
type (
	resultMessage struct {
		Success    bool          `json:"success"`
		Text       string        `json:"text"` // the final text, if the runtime states it
		Reason     string        `json:"reason"`
		Error      string        `json:"error"`
		Cost       *float64      `json:"cost"` // US dollars, of the session so far
		Usage      *event.Tokens `json:"usage"`
		DurationMS int64         `json:"duration_ms"`
		Stats      stats         `json:"stats"`
	}
	contextUsageMessage struct {
		event.Tokens
	}
	contextWindowSizeMessage struct {
		event.Context
	}
	compactBoundaryMessage struct {
		Phase event.Phase `json:"phase"`
	}
	checkpointCreatedMessage struct {
		CheckpointID string `json:"checkpoint_id"`
	}
	filesRewoundMessage struct {
		CheckpointID string   `json:"checkpoint_id"`
		Files        []string `json:"files"`
		Insertions   int      `json:"insertions"`
		Deletions    int      `json:"deletions"`
		DryRun       bool     `json:"dry_run"`
	}
	modelChangedMessage struct {
		Model string `json:"model"`
	}
	permissionModeChangedMessage struct {
		Mode string `json:"mode"`
	}
	agentNotificationMessage struct {
		Level   event.Level      `json:"level"`
		Code    event.NoticeCode `json:"code"`
		Message string           `json:"message"`
	}
	interruptedMessage struct{}
	authErrorMessage   struct {
		Message string `json:"message"`
	}
	errorMessage struct {
		Code    event.ErrorCode `json:"code"`
		Message string          `json:"message"`
		Request string          `json:"request"` // the type of the request that failed
	}
)

type todo struct {
	Content string           `json:"content"`
	Status  event.StepStatus `json:"status"`
}

type stats struct {
	ToolCalls           int            `json:"tool_calls"`
	ToolsByType         map[string]int `json:"tools_by_type"`
	SubAgents           int            `json:"sub_agents"`
	FilesRead           int            `json:"files_read"`
	FilesWritten        int            `json:"files_written"`
	BashCommands        int            `json:"bash_commands"`
	WebSearches         int            `json:"web_searches"`
	TotalToolDurationMS int64          `json:"total_tool_duration_ms"`
}

// adapterMode returns the mode of an adapter that a permission mode of a message names.
func adapterMode(name string) string {
	for mode, n := range modeNames {
		if n == name {
			return mode
		}
	}
	return name
}
