package agui

import (
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// ProtocolVersion is the version of AG-UI that the Translator writes.
const ProtocolVersion = "1.0"

// Event is an event of AG-UI. Which members it has depends on Type.
type Event struct {
	Type                string    `json:"type"`
	Timestamp           int64     `json:"timestamp,omitzero"` // in milliseconds
	ThreadID            string    `json:"threadId,omitempty"`
	RunID               string    `json:"runId,omitempty"`
	ProtocolVersion     string    `json:"protocolVersion,omitempty"`
	MessageID           string    `json:"messageId,omitempty"`
	Role                string    `json:"role,omitempty"`
	ToolCallID          string    `json:"toolCallId,omitempty"`
	ToolCallName        string    `json:"toolCallName,omitempty"`
	Delta               event.Raw `json:"delta,omitzero"`
	Content             *string   `json:"content,omitzero"`
	Snapshot            event.Raw `json:"snapshot,omitzero"`
	Name                string    `json:"name,omitempty"`
	Value               event.Raw `json:"value,omitzero"`
	Outcome             *Outcome  `json:"outcome,omitzero"`
	Message             string    `json:"message,omitempty"`
	Code                string    `json:"code,omitempty"`
	SubagentRunID       string    `json:"subagentRunId,omitempty"`
	ParentSubagentRunID string    `json:"parentSubagentRunId,omitempty"`
	ParentToolCallID    string    `json:"parentToolCallId,omitempty"`
	Messages            event.Raw `json:"messages,omitzero"`
	Metadata            *Metadata `json:"metadata,omitzero"`

	takesBack *withdrawn // for a Reply, which sends the messages instead
}

// Outcome is how a run ended: success, cancelled or interrupt; or a sub-agent: suspended.
type Outcome struct {
	Type         string      `json:"type"`
	Interrupts   []interrupt `json:"interrupts,omitempty"`
	InterruptIDs []string    `json:"interruptIds,omitempty"`
}

// interrupt is what a run waits for.
type interrupt struct {
	ID             string    `json:"id"`
	Reason         string    `json:"reason"`
	Message        string    `json:"message,omitempty"`
	ToolCallID     string    `json:"toolCallId,omitempty"`
	ResponseSchema event.Raw `json:"responseSchema,omitzero"`
	SubagentRunID  string    `json:"subagentRunId,omitempty"`
	Metadata       event.Raw `json:"metadata,omitzero"`
}

// Metadata is what Turnspec adds to an event.
type Metadata struct {
	Turnspec Detail `json:"turnspec"`
}

// Detail has the status of a block, a tool or a sub-agent, what the runtime states about the
// end of a turn, and what a tool's result is besides text.
type Detail struct {
	Status     string             `json:"status,omitempty"`
	BlockID    string             `json:"block_id,omitempty"`
	Cause      event.Cause        `json:"cause,omitempty"`
	MessageIDs []string           `json:"message_ids,omitempty"`
	Reason     string             `json:"reason,omitempty"`
	ExitCode   *int               `json:"exit_code,omitzero"`
	IsError    bool               `json:"is_error,omitzero"`
	Changes    []event.FileChange `json:"changes,omitempty"`
	FilePath   string             `json:"file_path,omitempty"`
	IsFileRead bool               `json:"is_file_read,omitzero"`
	Truncated  bool               `json:"truncated,omitzero"`
	Media      []event.Media      `json:"media,omitempty"`
}

// Encode returns an event as JSON on one line, without a line end.
func (e Event) Encode() []byte { return dialect.Marshal(e) }

// Ends reports whether the event is the last of its run.
func (e Event) Ends() bool { return e.Type == "RUN_FINISHED" || e.Type == "RUN_ERROR" }

func detail(d Detail) *Metadata { return &Metadata{d} }

// text returns a delta that is a text.
func text(s string) event.Raw { return dialect.Marshal(s) }
