package adapters

import (
	"context"
	"time"

	"github.com/turnspec/turnspec/adapters/event"
)

// MCPServer is an MCP server that the runtime starts as a child process and uses over
// stdio or, if URL is set, one that runs already.
type MCPServer struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string

	// URL is the address of a server that runs already. The runtime uses it over streamable
	// HTTP, or over HTTP with server-sent events if SSE is set, and sends Headers with each
	// request. Command, Args and Env are ignored.
	URL     string
	SSE     bool
	Headers map[string]string
}

// Tool is a tool that the client itself offers to the model.
type Tool struct {
	Name        string
	Description string
	Schema      event.Raw // the JSON schema of the input; an object without members if empty
	ReadOnly    bool      // it changes nothing, so the runtime may run calls in parallel
	// Call runs the tool, in a new goroutine for each call. ctx is done when the
	// turn or the session ends: Call must then return, and its result is dropped.
	// The model receives an error as the tool's failure.
	Call func(ctx context.Context, c ToolCall) (ToolAnswer, error)
}

// ToolCall is one call of a Tool. ID is the tool_use_id of its events, if the
// runtime sends it.
type ToolCall struct {
	ID    string
	Input event.Raw
}

// ToolAnswer is the result of a Tool.
type ToolAnswer struct {
	Content []ToolContent
	IsError bool // it failed; Content is the error
}

// ToolContent is one part of a result: a text, or an image.
type ToolContent struct {
	Text  string
	Image []byte
	MIME  string // of the image
}

// Hook is a callback that the runtime calls at one of its hook points, by the
// runtime's own names.
type Hook struct {
	Event   string // PreToolUse, Stop …
	Matcher string // which tools; "" means all
	// Timeout is how long the runtime waits for the answer, rounded up to whole
	// seconds; 0 means its own default. After it the runtime cancels the call, and
	// ctx is done.
	Timeout time.Duration
	// Call receives the runtime's input and returns its answer, both in the
	// runtime's own form; nil is an empty answer. It has a goroutine and a ctx as
	// Tool.Call has. If it returns an error, the runtime goes on without the hook.
	Call func(ctx context.Context, input event.Raw) (event.Raw, error)
}
