package agentui

import (
	"time"

	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// Event is an event of Agent UI. Which members it has depends on Type.
type Event struct {
	Type              string    `json:"type"`
	Sequence          int64     `json:"sequence"`
	Timestamp         time.Time `json:"timestamp,omitzero"`
	SessionID         string    `json:"sessionId,omitempty"`
	ThreadID          string    `json:"threadId,omitempty"`
	RunID             string    `json:"runId,omitempty"`
	TurnID            string    `json:"turnId,omitempty"`
	Owner             string    `json:"owner"`
	Scope             string    `json:"scope"`
	Phase             string    `json:"phase,omitempty"`
	MessageID         string    `json:"messageId,omitempty"`
	PartID            string    `json:"partId,omitempty"`
	ToolCallID        string    `json:"toolCallId,omitempty"`
	ActionID          string    `json:"actionId,omitempty"`
	ArtifactID        string    `json:"artifactId,omitempty"`
	ArtifactKind      string    `json:"artifactKind,omitempty"`
	ArtifactVersionID string    `json:"artifactVersionId,omitempty"`
	ArtifactReadRef   string    `json:"artifactReadRef,omitempty"`
	ArtifactDiffRef   string    `json:"artifactDiffRef,omitempty"`
	EvidenceID        string    `json:"evidenceId,omitempty"`
	TaskID            string    `json:"taskId,omitempty"`
	AgentID           string    `json:"agentId,omitempty"`
	RuntimeEntity     string    `json:"runtimeEntity,omitempty"`
	RuntimeStatus     string    `json:"runtimeStatus,omitempty"`
	Surface           string    `json:"surface,omitempty"`
	Persistence       string    `json:"persistence,omitempty"`
	Control           string    `json:"control,omitempty"`
	Payload           event.Raw `json:"payload,omitzero"`
}

// Encode returns an event as JSON on one line, without a line end.
func (e Event) Encode() []byte { return dialect.Marshal(e) }

// kind is what the events of a class have in common.
type kind struct{ class, owner, scope, phase string }

func (k kind) with(payload any) Event {
	e := Event{Type: k.class, Owner: k.owner, Scope: k.scope, Phase: k.phase}
	if payload != nil {
		e.Payload = dialect.Marshal(payload)
	}
	return e
}
