package adapters

import (
	"context"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// MCPServer is an MCP server that the runtime starts as a child and speaks to
// over stdio.
type MCPServer struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
}

// Tool is a tool that the client itself offers to the model.
type Tool struct {
	Name        string
	Description string
	Schema      event.Raw // of the input, a JSON schema; an object without members when empty
	ReadOnly    bool      // it changes nothing: calls may run side by side, where the runtime asks that
	// Call runs the tool. Each call has a goroutine of its own; ctx is done when
	// its turn or the session ends: Call must return then, and what it returns
	// is not told. An error is told to the model as the tool's failure.
	Call func(ctx context.Context, c ToolCall) (ToolAnswer, error)
}

// ToolCall is one call of a Tool. ID is that of the tool's events, where the
// runtime tells it.
type ToolCall struct {
	ID    string
	Input event.Raw
}

// ToolAnswer is what a Tool answers.
type ToolAnswer struct {
	Content []ToolContent
	IsError bool // it failed, and Content says how
}

// ToolContent is one piece of an answer: a text, or an image.
type ToolContent struct {
	Text  string
	Image []byte
	MIME  string // of the image
}

// Hook is a callback at a point of the runtime's work, by the runtime's own
// names.
type Hook struct {
	Event   string // PreToolUse, Stop …
	Matcher string // which tools; "" is all
	// Timeout is how long the runtime waits for the answer, rounded up to whole
	// seconds; when 0, its own default. After it the call is taken back, and ctx is
	// done.
	Timeout time.Duration
	// Call gets what the runtime tells and answers in the runtime's words; nil
	// is to say nothing. Its goroutine and ctx are as those of Tool.Call. An
	// error is told to the runtime, which goes on without the hook.
	Call func(ctx context.Context, input event.Raw) (event.Raw, error)
}
