package event

// EventType implements Data.
func (SessionReady) EventType() Type { return TypeSessionReady }

// EventType implements Data.
func (SessionEnd) EventType() Type { return TypeSessionEnd }

// EventType implements Data.
func (TurnStart) EventType() Type { return TypeTurnStart }

// EventType implements Data.
func (UserMessage) EventType() Type { return TypeUserMessage }

// EventType implements Data.
func (Queue) EventType() Type { return TypeQueue }

// EventType implements Data.
func (Delta) EventType() Type { return TypeDelta }

// EventType implements Data.
func (Thinking) EventType() Type { return TypeThinking }

// EventType implements Data.
func (BlockEnd) EventType() Type { return TypeBlockEnd }

// EventType implements Data.
func (ToolStart) EventType() Type { return TypeToolStart }

// EventType implements Data.
func (ToolInput) EventType() Type { return TypeToolInput }

// EventType implements Data.
func (ToolOutput) EventType() Type { return TypeToolOutput }

// EventType implements Data.
func (ToolProgress) EventType() Type { return TypeToolProgress }

// EventType implements Data.
func (ToolResult) EventType() Type { return TypeToolResult }

// EventType implements Data.
func (Task) EventType() Type { return TypeTask }

// EventType implements Data.
func (PermissionRequest) EventType() Type { return TypePermissionRequest }

// EventType implements Data.
func (PermissionResolved) EventType() Type { return TypePermissionResolved }

// EventType implements Data.
func (Interrupt) EventType() Type { return TypeInterrupt }

// EventType implements Data.
func (InterruptResolved) EventType() Type { return TypeInterruptResolved }

// EventType implements Data.
func (Plan) EventType() Type { return TypePlan }

// EventType implements Data.
func (Usage) EventType() Type { return TypeUsage }

// EventType implements Data.
func (Compaction) EventType() Type { return TypeCompaction }

// EventType implements Data.
func (ComponentUpdate) EventType() Type { return TypeComponentUpdate }

// EventType implements Data.
func (ComponentRemove) EventType() Type { return TypeComponentRemove }

// EventType implements Data.
func (ModelChanged) EventType() Type { return TypeModelChanged }

// EventType implements Data.
func (ModeChanged) EventType() Type { return TypeModeChanged }

// EventType implements Data.
func (Checkpoint) EventType() Type { return TypeCheckpoint }

// EventType implements Data.
func (Notice) EventType() Type { return TypeNotice }

// EventType implements Data.
func (Result) EventType() Type { return TypeResult }

// EventType implements Data.
func (Error) EventType() Type { return TypeError }

// EventType implements Data.
func (Done) EventType() Type { return TypeDone }

// forms holds the closed set of types with the decoder of their data.
var forms = map[Type]form{
	TypeSessionReady:       formOf[SessionReady](),
	TypeSessionEnd:         formOf[SessionEnd](),
	TypeTurnStart:          formOf[TurnStart](),
	TypeUserMessage:        formOf[UserMessage](),
	TypeQueue:              formOf[Queue](),
	TypeDelta:              formOf[Delta](),
	TypeThinking:           formOf[Thinking](),
	TypeBlockEnd:           formOf[BlockEnd](),
	TypeToolStart:          formOf[ToolStart](),
	TypeToolInput:          formOf[ToolInput](),
	TypeToolOutput:         formOf[ToolOutput](),
	TypeToolProgress:       formOf[ToolProgress](),
	TypeToolResult:         formOf[ToolResult](),
	TypeTask:               formOf[Task](),
	TypePermissionRequest:  formOf[PermissionRequest](),
	TypePermissionResolved: formOf[PermissionResolved](),
	TypeInterrupt:          formOf[Interrupt](),
	TypeInterruptResolved:  formOf[InterruptResolved](),
	TypePlan:               formOf[Plan](),
	TypeUsage:              formOf[Usage](),
	TypeCompaction:         formOf[Compaction](),
	TypeComponentUpdate:    formOf[ComponentUpdate](),
	TypeComponentRemove:    formOf[ComponentRemove](),
	TypeModelChanged:       formOf[ModelChanged](),
	TypeModeChanged:        formOf[ModeChanged](),
	TypeCheckpoint:         formOf[Checkpoint](),
	TypeNotice:             formOf[Notice](),
	TypeResult:             formOf[Result](),
	TypeError:              formOf[Error](),
	TypeDone:               formOf[Done](),
}
