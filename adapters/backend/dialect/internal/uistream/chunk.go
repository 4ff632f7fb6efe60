package uistream

import (
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// Chunk is a message of the stream. Which members it has depends on Type.
type Chunk struct {
	Type             string    `json:"type"`
	ID               string    `json:"id,omitempty"`
	Delta            string    `json:"delta,omitempty"`
	MessageID        string    `json:"messageId,omitempty"`
	ToolCallID       string    `json:"toolCallId,omitempty"`
	ToolName         string    `json:"toolName,omitempty"`
	Dynamic          bool      `json:"dynamic,omitzero"`
	Input            event.Raw `json:"input,omitzero"`
	InputTextDelta   string    `json:"inputTextDelta,omitempty"`
	Output           event.Raw `json:"output,omitzero"`
	ProviderExecuted bool      `json:"providerExecuted,omitzero"`
	Preliminary      bool      `json:"preliminary,omitzero"`
	SourceID         string    `json:"sourceId,omitempty"`
	URL              string    `json:"url,omitempty"`
	ApprovalID       string    `json:"approvalId,omitempty"`
	Approved         *bool     `json:"approved,omitzero"`
	ErrorText        string    `json:"errorText,omitempty"`
	FinishReason     string    `json:"finishReason,omitempty"`
	Reason           string    `json:"reason,omitempty"`
	Data             event.Raw `json:"data,omitzero"`
	Transient        bool      `json:"transient,omitzero"`
	ProviderMetadata *Provider `json:"providerMetadata,omitzero"`
	MessageMetadata  *Metadata `json:"messageMetadata,omitzero"`

	takesBack *takenBack // for a Reply, which drops the parts instead
}

// Provider is the metadata of a part of text or reasoning.
type Provider struct {
	Turnspec Part `json:"turnspec"`
}

// Part names a part of text or reasoning. A block has several parts if something else came
// between. Status is that of the block, if it is not complete.
type Part struct {
	BlockID string            `json:"blockId"`
	PartID  string            `json:"partId"`
	Status  event.BlockStatus `json:"status,omitempty"`
}

// Metadata is the metadata of a message. Later values are merged into earlier ones.
type Metadata struct {
	SessionID  string       `json:"sessionId,omitempty"`
	Turn       int          `json:"turn,omitzero"`
	Cause      event.Cause  `json:"cause,omitempty"`
	MessageIDs []string     `json:"messageIds,omitempty"` // the user's messages that the turn began with
	Model      string       `json:"model,omitempty"`
	Mode       string       `json:"mode,omitempty"`
	Usage      *event.Usage `json:"usage,omitzero"`
	Stats      *event.Stats `json:"stats,omitzero"`
	Stopped    bool         `json:"stopped,omitzero"`
	Reason     string       `json:"reason,omitempty"`
	ExitCode   *int         `json:"exitCode,omitzero"`
	Error      *event.Error `json:"error,omitzero"`
}

// Encode returns a chunk as JSON on one line, without a line end.
func (c Chunk) Encode() []byte { return dialect.Marshal(c) }

// Ends reports whether the chunk is the last of its stream.
func (c Chunk) Ends() bool { return c.Type == "finish" }

// EndOfStream is the data of the server-sent event that follows the last chunk of a stream.
const EndOfStream = "[DONE]"

// Headers are the HTTP headers of a stream.
func Headers() map[string]string {
	return map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "Connection": "keep-alive",
		"X-Vercel-Ai-Ui-Message-Stream": "v1", "X-Accel-Buffering": "no",
	}
}
