package conversation

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/backend/runner/message"
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
	message.SessionIDUpdate{}.Type(): nil,
	message.Complete{}.Type():        nil,
	message.ThinkingStart{}.Type():   nil, // its first piece follows
	message.ToolProgress{}.Type():    nil,
	message.HookPreTool{}.Type():     nil,
	message.HookPostTool{}.Type():    nil,
	message.AgentStop{}.Type():       nil,
	message.Queue{}.Type():           nil,

	message.Ready{}.Type():                 on((*session).handleReady),
	message.Init{}.Type():                  on((*session).handleInit),
	message.SessionStarted{}.Type():        on((*session).handleStarted),
	message.SessionEnded{}.Type():          on((*session).handleEnded),
	message.Shutdown{}.Type():              on((*session).handleShutdown),
	message.TurnStart{}.Type():             on((*session).handleTurnStart),
	message.TurnComplete{}.Type():          on((*session).handleTurnComplete),
	message.AssistantText{}.Type():         on((*session).handleText),
	message.TextRetracted{}.Type():         on((*session).handleRetracted),
	message.ThinkingDelta{}.Type():         on((*session).handleThinking),
	message.Thinking{}.Type():              on((*session).handleThought),
	message.ToolStart{}.Type():             on((*session).handleToolStart),
	message.ToolOutput{}.Type():            on((*session).handleToolOutput),
	message.ToolEnd{}.Type():               on((*session).handleToolEnd),
	message.SubagentStarted{}.Type():       on((*session).handleSubagentStarted),
	message.SubagentStopped{}.Type():       on((*session).handleSubagentStopped),
	message.PermissionRequest{}.Type():     on((*session).handlePermission),
	message.PermissionResolved{}.Type():    on((*session).handlePermissionResolved),
	message.UserQuestionRequest{}.Type():   on((*session).handleQuestion),
	message.PlanApprovalRequest{}.Type():   on((*session).handlePlan),
	message.RequestResolved{}.Type():       on((*session).handleResolved),
	message.TodoUpdate{}.Type():            on((*session).handleTodos),
	message.Result{}.Type():                on((*session).handleResult),
	message.ContextUsage{}.Type():          on((*session).handleUsage),
	message.ContextWindowSize{}.Type():     on((*session).handleWindow),
	message.CompactBoundary{}.Type():       on((*session).handleCompact),
	message.CheckpointCreated{}.Type():     on((*session).handleCheckpoint),
	message.FilesRewound{}.Type():          on((*session).handleRewound),
	message.ModelChanged{}.Type():          on((*session).handleModel),
	message.PermissionModeChanged{}.Type(): on((*session).handleMode),
	message.AgentNotification{}.Type():     on((*session).handleNotification),
	message.Interrupted{}.Type():           on((*session).handleInterrupted),
	message.AuthError{}.Type():             on((*session).handleAuthError),
	message.Error{}.Type():                 on((*session).handleError),
}

// on decodes a message for its handler.
func on[M message.Message](handle func(*session, M)) func(*session, []byte) error {
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
func (x *session) handleReady(message.Ready) {
	if rt := runtimes.Find(x.Program.Of); rt != nil && rt.Process.Message != nil {
		x.opened = true
		x.begun()
	}
}

func (x *session) handleInit(m message.Init) {
	x.version, x.model, x.mode = m.Version, m.Model, message.Mode(m.PermissionMode)
}

func (x *session) handleStarted(m message.SessionStarted) {
	x.EmitReady(event.SessionReady{
		SessionID: x.ID, Runtime: x.Program.Of, RuntimeVersion: x.version, ProviderSessionID: m.SessionID, Resumed: m.Resumed,
		ForkedFrom: m.ForkedFrom, Model: x.model, Mode: x.mode, Cwd: x.dir,
	}, nil)
	x.begun()
}

func (x *session) handleEnded(m message.SessionEnded) {
	x.end = &event.SessionEnd{Reason: m.Reason, ExitCode: m.ExitCode}
}

func (x *session) handleShutdown(message.Shutdown) { x.shutdown = true }

func (x *session) handleTurnStart(m message.TurnStart) {
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

func (x *session) handleTurnComplete(message.TurnComplete) { x.endTurn() }

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

func (x *session) handleText(m message.AssistantText) {
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

func (x *session) handleRetracted(m message.TextRetracted) {
	id := x.blockOf(m.BlockID)
	if id == x.Block {
		x.Block = ""
	}
	x.Emit(event.BlockEnd{BlockID: id, Status: event.BlockRetracted})
}

func (x *session) handleThinking(m message.ThinkingDelta) {
	x.EndBlock(event.BlockComplete)
	x.thinking, x.thought = true, x.blockOf(m.BlockID)
	x.Emit(event.Thinking{Text: m.Content, BlockID: x.thought})
}

func (x *session) handleThought(message.Thinking) { x.endThought() }

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

func (x *session) handleToolStart(m message.ToolStart) {
	x.act(m.AgentID)
	x.emitOf(m.AgentID, event.ToolStart{ToolUseID: m.ID, Tool: m.Tool, Input: m.Params})
}

func (x *session) handleToolOutput(m message.ToolOutput) {
	x.emitOf(m.AgentID, event.ToolOutput{ToolUseID: m.ID, Text: m.Content})
}

func (x *session) handleToolEnd(m message.ToolEnd) {
	status := m.Status
	if status == "" {
		status = event.ToolError
		if m.Success {
			status = event.ToolOK
		}
	}
	x.emitOf(m.AgentID, event.ToolResult{ToolUseID: m.ID, Output: m.Summary, IsError: status != event.ToolOK && status != event.ToolBackgrounded, Status: status})
}

func (x *session) handleSubagentStarted(m message.SubagentStarted) {
	x.Emit(event.Task{TaskID: m.AgentID, Kind: event.TaskSubagent, ToolUseID: m.ParentToolUseID, Name: m.AgentType, Status: event.TaskRunning})
}

func (x *session) handleSubagentStopped(m message.SubagentStopped) {
	x.Emit(event.Task{TaskID: m.AgentID, Kind: event.TaskSubagent, Status: m.Status})
}

func (x *session) handlePermission(m message.PermissionRequest) {
	x.act("")
	x.requests[m.RequestID] = request{"permission_response", m.Tool}
	x.Emit(event.PermissionRequest{RequestID: m.RequestID, ToolUseID: m.ToolID, ToolName: m.Tool, ToolInput: orEmpty(m.Params), Reason: m.Reason})
}

func orEmpty(v event.Raw) event.Raw {
	if len(v) == 0 {
		return event.Raw("{}")
	}
	return v
}

func (x *session) handlePermissionResolved(m message.PermissionResolved) {
	q := x.requests[m.RequestID]
	delete(x.requests, m.RequestID)
	x.Emit(event.PermissionResolved{RequestID: m.RequestID, ToolName: q.tool, Allowed: m.Decision == event.DecisionAllow, Decision: m.Decision, By: m.By})
}

func (x *session) handleQuestion(m message.UserQuestionRequest) {
	x.act("")
	x.requests[m.RequestID] = request{answer: "user_question_response"}
	x.Emit(event.Interrupt{InterruptID: m.RequestID, ComponentName: m.Component, Props: orEmpty(m.Props), Surface: "chat"})
}

func (x *session) handlePlan(m message.PlanApprovalRequest) {
	x.act("")
	x.requests[m.RequestID] = request{answer: "plan_approval_response"}
	x.Emit(event.Interrupt{InterruptID: m.RequestID, ComponentName: "ExitPlanMode", Props: orEmpty(m.Props), Surface: "chat"})
}

func (x *session) handleResolved(m message.RequestResolved) {
	delete(x.requests, m.RequestID)
	x.Emit(event.InterruptResolved{InterruptID: m.RequestID, Value: orEmpty(m.Value), By: m.By})
}

func (x *session) handleTodos(m message.TodoUpdate) {
	d := event.Plan{Steps: []event.PlanStep{}}
	for _, t := range m.Todos {
		d.Steps = append(d.Steps, event.PlanStep{Text: t.Content, Status: t.Status})
	}
	x.Emit(d)
}

func (x *session) handleResult(m message.Result) {
	if m.Cost != nil && m.Usage != nil {
		x.Emit(event.Usage{Tokens: *m.Usage, Cost: m.Cost})
	}
}

func (x *session) handleUsage(m message.ContextUsage) { x.Emit(event.Usage{Tokens: m.Tokens}) }

func (x *session) handleWindow(m message.ContextWindowSize) {
	x.Emit(event.Usage{Context: &m.Context})
}

func (x *session) handleCompact(m message.CompactBoundary) { x.Emit(event.Compaction{Phase: m.Phase}) }

func (x *session) handleCheckpoint(m message.CheckpointCreated) {
	x.Emit(event.Checkpoint{CheckpointID: m.CheckpointID, Action: event.CheckpointCreated})
}

func (x *session) handleRewound(m message.FilesRewound) {
	if !m.DryRun {
		x.Emit(event.Checkpoint{CheckpointID: m.CheckpointID, Action: event.CheckpointRestored})
	}
}

func (x *session) handleModel(m message.ModelChanged) { x.Emit(event.ModelChanged{Value: m.Model}) }

func (x *session) handleMode(m message.PermissionModeChanged) {
	x.Emit(event.ModeChanged{Value: message.Mode(m.Mode)})
}

func (x *session) handleNotification(m message.AgentNotification) {
	x.Emit(event.Notice{Level: cmp.Or(m.Level, event.LevelInfo), Code: cmp.Or(m.Code, event.NoticeWarning), Text: m.Message})
}

func (x *session) handleInterrupted(message.Interrupted) { x.stopped = true }

func (x *session) handleAuthError(m message.AuthError) {
	x.fail(event.Error{Code: event.ErrorAuth, Message: m.Message})
}

func (x *session) handleError(m message.Error) {
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
