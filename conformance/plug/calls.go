package plug

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
)

// ClientTool is a tool of the client, as open offers it.
type ClientTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Schema      jsontext.Value `doc:"The JSON schema of its input." json:"schema,omitzero"`
	ReadOnly    bool           `json:"read_only,omitzero"`
}

// ClientHook is a hook of the client. A call names it by its index.
type ClientHook struct {
	Event   string  `json:"event"`
	Matcher string  `json:"matcher,omitempty"`
	Timeout float64 `json:"timeout_s,omitzero"`
}

// ClientCall is a call of a tool or hook of the client, which the runtime asked for.
type ClientCall struct {
	ID    string         `json:"id"`
	Tool  string         `json:"tool"`
	Hook  *int           `json:"hook"`
	Input jsontext.Value `json:"input"`
	// ToolUseID is the id of the call's events; "": the runtime sends none.
	ToolUseID string `json:"tool_use_id"`
}

// CallResult is the result of a call.
type CallResult struct {
	Content []CallContent  `json:"content,omitempty"` // of a tool
	IsError bool           `json:"is_error,omitzero"`
	Output  jsontext.Value `json:"output,omitzero"` // of a hook
	Error   string         `json:"error,omitempty"` // the tool or hook failed
}

// CallContent is a text or an image.
type CallContent struct {
	Text  string `json:"text,omitempty"`
	Image []byte `json:"image,omitempty"` // base64
	MIME  string `json:"mime,omitempty"`
}

// ClientTools returns the tools of the client of an opening.
func ClientTools(o conformance.Open) (out []ClientTool) {
	for _, t := range o.Tools {
		out = append(out, ClientTool{t.Name, t.Description, t.Schema, t.ReadOnly})
	}
	return out
}

// ClientHooks returns the hooks of the client of an opening.
func ClientHooks(o conformance.Open) (out []ClientHook) {
	for _, h := range o.Hooks {
		out = append(out, ClientHook{h.Event, h.Matcher, h.Timeout.Seconds()})
	}
	return out
}

// CallRunner returns a function that runs a call of a tool or a hook of the client, or what is wrong
// with the call.
func CallRunner(tools []adapters.Tool, hooks []adapters.Hook, c *ClientCall) (run func(ctx context.Context) CallResult, wrong string) {
	switch {
	case c.ID == "":
		return nil, "id is missing"
	case c.Hook != nil && (*c.Hook < 0 || *c.Hook >= len(hooks)):
		return nil, "open has no hook of this index"
	case c.Hook != nil:
		return func(ctx context.Context) CallResult { return runHook(ctx, hooks[*c.Hook], c.Input) }, ""
	}
	for _, t := range tools {
		if t.Name == c.Tool {
			return func(ctx context.Context) CallResult { return runTool(ctx, t, c) }, ""
		}
	}
	return nil, "open has no tool " + c.Tool
}

func runTool(ctx context.Context, t adapters.Tool, c *ClientCall) CallResult {
	a, err := t.Call(ctx, adapters.ToolCall{ID: c.ToolUseID, Input: c.Input})
	if err != nil {
		return CallResult{Error: failure(err)}
	}
	r := CallResult{IsError: a.IsError}
	for _, p := range a.Content {
		r.Content = append(r.Content, CallContent{p.Text, p.Image, p.MIME})
	}
	return r
}

func runHook(ctx context.Context, h adapters.Hook, input event.Raw) CallResult {
	out, err := h.Call(ctx, input)
	if err != nil {
		return CallResult{Error: failure(err)}
	}
	return CallResult{Output: out}
}

// failure returns the words of an error, which are never empty.
func failure(err error) string {
	if text := err.Error(); text != "" {
		return text
	}
	return "it failed"
}
