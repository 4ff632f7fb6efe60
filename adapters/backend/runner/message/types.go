package message

// Types lists the values of the member type.
func Types() []string {
	return []string{
		Ready{}.Type(),
		Init{}.Type(),
		SessionStarted{}.Type(),
		SessionIDUpdate{}.Type(),
		SessionEnded{}.Type(),
		TurnStart{}.Type(),
		TurnComplete{}.Type(),
		Complete{}.Type(),
		Shutdown{}.Type(),
		AssistantText{}.Type(),
		TextRetracted{}.Type(),
		ThinkingStart{}.Type(),
		ThinkingDelta{}.Type(),
		Thinking{}.Type(),
		ToolStart{}.Type(),
		ToolOutput{}.Type(),
		ToolProgress{}.Type(),
		ToolEnd{}.Type(),
		HookPreTool{}.Type(),
		HookPostTool{}.Type(),
		SubagentStarted{}.Type(),
		SubagentStopped{}.Type(),
		PermissionRequest{}.Type(),
		PermissionResolved{}.Type(),
		UserQuestionRequest{}.Type(),
		PlanApprovalRequest{}.Type(),
		RequestResolved{}.Type(),
		TodoUpdate{}.Type(),
		Queue{}.Type(),
		Result{}.Type(),
		ContextUsage{}.Type(),
		ContextWindowSize{}.Type(),
		CompactBoundary{}.Type(),
		CheckpointCreated{}.Type(),
		FilesRewound{}.Type(),
		Listing{}.Type(),
		ModelChanged{}.Type(),
		PermissionModeChanged{}.Type(),
		AgentNotification{}.Type(),
		AgentStop{}.Type(),
		Interrupted{}.Type(),
		AuthError{}.Type(),
		Error{}.Type(),
	}
}

// Type implements Message.
func (Ready) Type() string { return "ready" }

// Type implements Message.
func (Init) Type() string { return "init" }

// Type implements Message.
func (SessionStarted) Type() string { return "session_started" }

// Type implements Message.
func (SessionIDUpdate) Type() string { return "session_id_update" }

// Type implements Message.
func (SessionEnded) Type() string { return "session_ended" }

// Type implements Message.
func (TurnStart) Type() string { return "turn_start" }

// Type implements Message.
func (TurnComplete) Type() string { return "turn_complete" }

// Type implements Message.
func (Complete) Type() string { return "complete" }

// Type implements Message.
func (Shutdown) Type() string { return "shutdown" }

// Type implements Message.
func (AssistantText) Type() string { return "assistant_text" }

// Type implements Message.
func (TextRetracted) Type() string { return "text_retracted" }

// Type implements Message.
func (ThinkingStart) Type() string { return "thinking_start" }

// Type implements Message.
func (ThinkingDelta) Type() string { return "thinking_delta" }

// Type implements Message.
func (Thinking) Type() string { return "thinking" }

// Type implements Message.
func (ToolStart) Type() string { return "tool_start" }

// Type implements Message.
func (ToolOutput) Type() string { return "tool_output" }

// Type implements Message.
func (ToolProgress) Type() string { return "tool_progress" }

// Type implements Message.
func (ToolEnd) Type() string { return "tool_end" }

// Type implements Message.
func (HookPreTool) Type() string { return "hook_pre_tool" }

// Type implements Message.
func (HookPostTool) Type() string { return "hook_post_tool" }

// Type implements Message.
func (SubagentStarted) Type() string { return "subagent_started" }

// Type implements Message.
func (SubagentStopped) Type() string { return "subagent_stopped" }

// Type implements Message.
func (PermissionRequest) Type() string { return "permission_request" }

// Type implements Message.
func (PermissionResolved) Type() string { return "permission_resolved" }

// Type implements Message.
func (UserQuestionRequest) Type() string { return "user_question_request" }

// Type implements Message.
func (PlanApprovalRequest) Type() string { return "plan_approval_request" }

// Type implements Message.
func (RequestResolved) Type() string { return "request_resolved" }

// Type implements Message.
func (TodoUpdate) Type() string { return "todo_update" }

// Type implements Message.
func (Queue) Type() string { return "message_queue" }

// Type implements Message.
func (Result) Type() string { return "result" }

// Type implements Message.
func (ContextUsage) Type() string { return "context_usage" }

// Type implements Message.
func (ContextWindowSize) Type() string { return "context_window_size" }

// Type implements Message.
func (CompactBoundary) Type() string { return "compact_boundary" }

// Type implements Message.
func (CheckpointCreated) Type() string { return "checkpoint_created" }

// Type implements Message.
func (FilesRewound) Type() string { return "files_rewound" }

// Type implements Message.
func (Listing) Type() string { return "listing" }

// Type implements Message.
func (ModelChanged) Type() string { return "model_changed" }

// Type implements Message.
func (PermissionModeChanged) Type() string { return "permission_mode_changed" }

// Type implements Message.
func (AgentNotification) Type() string { return "agent_notification" }

// Type implements Message.
func (AgentStop) Type() string { return "agent_stop" }

// Type implements Message.
func (Interrupted) Type() string { return "interrupted" }

// Type implements Message.
func (AuthError) Type() string { return "auth_error" }

// Type implements Message.
func (Error) Type() string { return "error" }
