package conversation

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// translator is the state of the translation of messages. It is guarded by Mu.
type translator struct {
	dir     string
	version string
	mode    string
	model   string

	requests map[string]request
	blocks   map[string]string // the ids of blocks, by those of the runner
	thought  string            // the open block of reasoning
	thinking bool
	stopped  bool
	failure  *event.Error
	end      *event.SessionEnd
}

// request is a request without an answer, with the command that answers it.
type request struct {
	answer, tool string
}

func newTranslator() translator {
	return translator{requests: map[string]request{}, blocks: map[string]string{}}
}

// handlers are the types of messages, with what each becomes.
var handlers = map[string]func(*session, []byte) error{
	"session_id_update": nil,
	"complete":          nil,
	"thinking_start":    nil, // its first piece follows
	"tool_progress":     nil,
	"hook_pre_tool":     nil,
	"hook_post_tool":    nil,
	"agent_stop":        nil,
	"message_queue":     nil,

	"ready":                   on((*session).handleReady),
	"init":                    on((*session).handleInit),
	"session_started":         on((*session).handleStarted),
	"session_ended":           on((*session).handleEnded),
	"shutdown":                on((*session).handleShutdown),
	"turn_start":              on((*session).handleTurnStart),
	"turn_complete":           on((*session).handleTurnComplete),
	"assistant_text":          on((*session).handleText),
	"text_retracted":          on((*session).handleRetracted),
	"thinking_delta":          on((*session).handleThinking),
	"thinking":                on((*session).handleThought),
	"tool_start":              on((*session).handleToolStart),
	"tool_output":             on((*session).handleToolOutput),
	"tool_end":                on((*session).handleToolEnd),
	"subagent_started":        on((*session).handleSubagentStarted),
	"subagent_stopped":        on((*session).handleSubagentStopped),
	"permission_request":      on((*session).handlePermission),
	"permission_resolved":     on((*session).handlePermissionResolved),
	"user_question_request":   on((*session).handleQuestion),
	"plan_approval_request":   on((*session).handlePlan),
	"request_resolved":        on((*session).handleResolved),
	"todo_update":             on((*session).handleTodos),
	"result":                  on((*session).handleResult),
	"context_usage":           on((*session).handleUsage),
	"context_window_size":     on((*session).handleWindow),
	"compact_boundary":        on((*session).handleCompact),
	"checkpoint_created":      on((*session).handleCheckpoint),
	"files_rewound":           on((*session).handleRewound),
	"model_changed":           on((*session).handleModel),
	"permission_mode_changed": on((*session).handleMode),
	"agent_notification":      on((*session).handleNotification),
	"interrupted":             on((*session).handleInterrupted),
	"auth_error":              on((*session).handleAuthError),
	"error":                   on((*session).handleError),
}

// on decodes a message for its handler.
func on[M any](handle func(*session, M)) func(*session, []byte) error {
	return func(x *session, line []byte) error {
		var m M
		if err := json.Unmarshal(line, &m, plug.Lenient); err != nil {
			return err
		}
		handle(x, m)
		return nil
	}
}

// handle handles a line. It returns what is wrong with it, or nil.
func (x *session) handle(line []byte) *plug.Error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &head, plug.Lenient); err != nil || head.Type == "" {
		return plug.Errorf("stdout has a line that is no message: %s", plug.Clip(string(line))).Advise("write logs to stderr")
	}
	if x.shutdown {
		return plug.Errorf("%s follows shutdown", head.Type).Advise("write shutdown last")
	}
	handle, known := handlers[head.Type]
	if !known {
		return plug.Errorf("there is no message of type %q", head.Type).Advise("`go doc github.com/turnspec/turnspec/adapters/backend/runner/message` lists the types")
	}
	if handle == nil {
		return nil
	}
	if err := handle(x, line); err != nil {
		return plug.Errorf("%s cannot be read: %v: %s", head.Type, err, plug.Clip(string(line)))
	}
	return nil
}

// handleReady unblocks Open if the session starts with its first message. Else session_started
// follows.
func (x *session) handleReady(readyMessage) {
	if rt := runtimes.Find(x.Program.Of); rt != nil && rt.Process.Message != nil {
		x.opened = true
		x.begun()
	}
}

func (x *session) handleInit(m initMessage) {
	x.version, x.model, x.mode = m.Version, m.Model, adapterMode(m.PermissionMode)
}

func (x *session) handleStarted(m sessionStartedMessage) {
	x.EmitReady(event.SessionReady{
		SessionID: x.ID, Runtime: x.Program.Of, RuntimeVersion: x.version, ProviderSessionID: m.SessionID, Resumed: m.Resumed,
		ForkedFrom: m.ForkedFrom, Model: x.model, Mode: x.mode, Cwd: x.dir,
	}, nil)
	x.begun()
}

func (x *session) handleEnded(m sessionEndedMessage) {
	x.end = &event.SessionEnd{Reason: m.Reason, ExitCode: m.ExitCode}
}

func (x *session) handleShutdown(shutdownMessage) { x.shutdown = true }

func (x *session) handleTurnStart(m turnStartMessage) {
	x.Turn++
	if x.Running || len(x.sent) == 0 {
		x.turnEnded = make(chan struct{})
	}
	x.Running = true
	x.Emit(event.TurnStart{Cause: m.Cause, MessageIDs: append([]string{}, m.IDs...)})
	for _, id := range m.IDs {
		if sent, ok := x.sent[id]; ok {
			delete(x.sent, id)
			x.Emit(event.UserMessage{MessageID: id, Text: sent.Text, Via: event.ViaTurn})
		}
	}
}

func (x *session) handleTurnComplete(turnCompleteMessage) { x.endTurn() }

// endTurn ends the running turn, as what came before says.
func (x *session) endTurn() {
	if !x.Running {
		return
	}
	status := event.BlockComplete
	if x.stopped || x.failure != nil {
		status = event.BlockInterrupted
	}
	x.endThought()
	x.EndBlock(status)
	x.Running = false
	if x.failure != nil {
		x.Emit(*x.failure)
	} else {
		x.Emit(event.Done{Stopped: x.stopped})
	}
	x.stopped, x.failure = false, nil
	close(x.turnEnded)
}

func (x *session) handleText(m assistantTextMessage) {
	x.endThought()
	if id := x.blockOf(m.BlockID); id != x.Block {
		x.EndBlock(event.BlockComplete)
		x.Block = id
	}
	x.Emit(event.Delta{Text: m.Content, MessageID: x.Block, BlockID: x.Block})
}

// blockOf returns the id that a block has in the session. A runner counts them from the
// beginning when a session is resumed.
func (x *session) blockOf(id string) string {
	if x.blocks[id] == "" {
		x.blocks[id] = x.NextBlock()
	}
	return x.blocks[id]
}

func (x *session) handleRetracted(m textRetractedMessage) {
	id := x.blockOf(m.BlockID)
	if id == x.Block {
		x.Block = ""
	}
	x.Emit(event.BlockEnd{BlockID: id, Status: event.BlockRetracted})
}

func (x *session) handleThinking(m thinkingDeltaMessage) {
	x.EndBlock(event.BlockComplete)
	x.thinking, x.thought = true, x.blockOf(m.BlockID)
	x.Emit(event.Thinking{Text: m.Content, BlockID: x.thought})
}

func (x *session) handleThought(thinkingMessage) { x.endThought() }

func (x *session) endThought() {
	if x.thinking {
		x.Emit(event.Thinking{Done: true, BlockID: x.thought})
		x.thinking = false
	}
}

// act ends the paragraph before anything else that the model does.
func (x *session) act(agent string) {
	if agent == "" {
		x.endThought()
		x.EndBlock(event.BlockComplete)
	}
}

// emitOf emits an event of a sub-agent, or of the agent if the name is empty.
func (x *session) emitOf(agent string, d event.Data) { x.EmitIn(d, x.TurnOf(d), agent) }

func (x *session) handleToolStart(m toolStartMessage) {
	x.act(m.AgentID)
	x.emitOf(m.AgentID, event.ToolStart{ToolUseID: m.ID, Tool: m.Tool, Input: m.Params})
}

func (x *session) handleToolOutput(m toolOutputMessage) {
	x.emitOf(m.AgentID, event.ToolOutput{ToolUseID: m.ID, Text: m.Content})
}

func (x *session) handleToolEnd(m toolEndMessage) {
	status := m.Status
	if status == "" {
		status = event.ToolError
		if m.Success {
			status = event.ToolOK
		}
	}
	x.emitOf(m.AgentID, event.ToolResult{ToolUseID: m.ID, Output: m.Summary, IsError: status != event.ToolOK && status != event.ToolBackgrounded, Status: status})
}

func (x *session) handleSubagentStarted(m subagentStartedMessage) {
	x.Emit(event.Task{TaskID: m.AgentID, Kind: event.TaskSubagent, ToolUseID: m.ParentToolUseID, Name: m.AgentType, Status: event.TaskRunning})
}

func (x *session) handleSubagentStopped(m subagentStoppedMessage) {
	x.Emit(event.Task{TaskID: m.AgentID, Kind: event.TaskSubagent, Status: m.Status})
}

func (x *session) handlePermission(m permissionRequestMessage) {
	x.act("")
	x.requests[m.RequestID] = request{"permission_response", m.Tool}
	x.Emit(event.PermissionRequest{RequestID: m.RequestID, ToolUseID: m.ToolID, ToolName: m.Tool, ToolInput: orEmpty(m.Params), Reason: m.Reason})
}

// answerPlan is the command that answers a question whether a plan is approved.
const answerPlan = "plan_approval_response"

func orEmpty(v event.Raw) event.Raw {
	if len(v) == 0 {
		return event.Raw("{}")
	}
	return v
}

func (x *session) handlePermissionResolved(m permissionResolvedMessage) {
	q := x.requests[m.RequestID]
	delete(x.requests, m.RequestID)
	x.Emit(event.PermissionResolved{RequestID: m.RequestID, ToolName: q.tool, Allowed: m.Decision == event.DecisionAllow, Decision: m.Decision, By: m.By})
}

func (x *session) handleQuestion(m userQuestionRequestMessage) {
	x.act("")
	x.requests[m.RequestID] = request{answer: "user_question_response"}
	x.Emit(event.Interrupt{InterruptID: m.RequestID, ComponentName: m.Component, Props: orEmpty(m.Props), Surface: "chat"})
}

func (x *session) handlePlan(m planApprovalRequestMessage) {
	x.act("")
	x.requests[m.RequestID] = request{answer: answerPlan}
	x.Emit(event.Interrupt{InterruptID: m.RequestID, ComponentName: "ExitPlanMode", Props: orEmpty(m.Props), Surface: "chat"})
}

func (x *session) handleResolved(m requestResolvedMessage) {
	value := orEmpty(m.Value)
	if x.requests[m.RequestID].answer == answerPlan && m.By == event.ByUser { // a runner may repeat its own form of the decision
		value = event.Raw(`"deny"`)
		if approves(m.Value) {
			value = event.Raw(`"allow"`)
		}
	}
	delete(x.requests, m.RequestID)
	x.Emit(event.InterruptResolved{InterruptID: m.RequestID, Value: value, By: m.By})
}

func (x *session) handleTodos(m todoUpdateMessage) {
	d := event.Plan{Steps: []event.PlanStep{}}
	for _, t := range m.Todos {
		d.Steps = append(d.Steps, event.PlanStep{Text: t.Content, Status: t.Status})
	}
	x.Emit(d)
}

func (x *session) handleResult(m resultMessage) {
	if m.Cost != nil && m.Usage != nil {
		x.Emit(event.Usage{Tokens: *m.Usage, Cost: m.Cost})
	}
}

func (x *session) handleUsage(m contextUsageMessage) { x.Emit(event.Usage{Tokens: m.Tokens}) }

func (x *session) handleWindow(m contextWindowSizeMessage) {
	x.Emit(event.Usage{Context: &m.Context})
}

func (x *session) handleCompact(m compactBoundaryMessage) { x.Emit(event.Compaction{Phase: m.Phase}) }

func (x *session) handleCheckpoint(m checkpointCreatedMessage) {
	x.Emit(event.Checkpoint{CheckpointID: m.CheckpointID, Action: event.CheckpointCreated})
}

func (x *session) handleRewound(m filesRewoundMessage) {
	if !m.DryRun {
		x.Emit(event.Checkpoint{CheckpointID: m.CheckpointID, Action: event.CheckpointRestored})
	}
}

func (x *session) handleModel(m modelChangedMessage) { x.Emit(event.ModelChanged{Value: m.Model}) }

func (x *session) handleMode(m permissionModeChangedMessage) {
	x.Emit(event.ModeChanged{Value: adapterMode(m.Mode)})
}

func (x *session) handleNotification(m agentNotificationMessage) {
	x.Emit(event.Notice{Level: cmp.Or(m.Level, event.LevelInfo), Code: cmp.Or(m.Code, event.NoticeWarning), Text: m.Message})
}

func (x *session) handleInterrupted(interruptedMessage) { x.stopped = true }

func (x *session) handleAuthError(m authErrorMessage) {
	x.fail(event.Error{Code: event.ErrorAuth, Message: m.Message})
}

func (x *session) handleError(m errorMessage) {
	switch m.Request {
	case "":
		x.fail(event.Error{Code: m.Code, Message: m.Message})
	case "message":
		clear(x.sent) // it begins no turn
	}
}

// fail keeps the failure of the turn or of the opening, or emits that of the session.
func (x *session) fail(d event.Error) {
	switch {
	case x.Running:
		x.failure = &d
	case !x.Ready && !x.opened:
		x.refused = &plug.RefusalError{Code: string(d.Code), Text: d.Message}
	default:
		x.EmitIn(d, 0, "")
	}
}
