package jsonl

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// clientTool is a tool of the client, as open offers it.
type clientTool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Schema      jsontext.Value `doc:"The JSON schema of its input." json:"schema,omitzero"`
	ReadOnly    bool           `json:"read_only,omitzero"`
}

// clientHook is a hook of the client. A call names it by its index.
type clientHook struct {
	Event   string  `json:"event"`
	Matcher string  `json:"matcher,omitempty"`
	Timeout float64 `json:"timeout_s,omitzero"`
}

// clientCall is a call of a tool or hook of the client, which the runtime asked for.
type clientCall struct {
	ID    string         `json:"id"`
	Tool  string         `json:"tool"`
	Hook  *int           `json:"hook"`
	Input jsontext.Value `json:"input"`
	// ToolUseID is the id of the call's events; "": the runtime sends none.
	ToolUseID string `json:"tool_use_id"`
}

// callResult is the command with the result of a call. It has no id and gets no reply.
type callResult struct {
	Do      string         `json:"do"`
	Call    string         `json:"call"`
	Content []callContent  `json:"content,omitempty"` // of a tool
	IsError bool           `json:"is_error,omitzero"`
	Output  jsontext.Value `json:"output,omitzero"` // of a hook
	Error   string         `json:"error,omitempty"` // the tool or hook failed
}

// callContent is a text or an image.
type callContent struct {
	Text  string `json:"text,omitempty"`
	Image []byte `json:"image,omitempty"` // base64
	MIME  string `json:"mime,omitempty"`
}

// offer adds the tools, hooks and components of the client to the command open.
func (x *session) offer(c *openCommand, o conformance.Open) {
	x.tools, x.hooks = o.Tools, o.Hooks
	for _, t := range o.Tools {
		c.Tools = append(c.Tools, clientTool{t.Name, t.Description, t.Schema, t.ReadOnly})
	}
	for _, h := range o.Hooks {
		c.Hooks = append(c.Hooks, clientHook{h.Event, h.Matcher, h.Timeout.Seconds()})
	}
	c.Components = o.Components
}

// handleCall starts a call of the client.
func (x *session) handleCall(c *clientCall) *plug.Error {
	const next = `give each call another id, and name a tool of open, or a hook by its index: {"call":{"id":"c1","tool":"lookup","input":{}}}`
	wrong := func(what string) *plug.Error { return plug.Errorf("call %q: %s", c.ID, what).Advise(next) }
	var run func(ctx context.Context) callResult
	switch {
	case c.ID == "":
		return wrong("id is missing")
	case c.Hook != nil && (*c.Hook < 0 || *c.Hook >= len(x.hooks)):
		return wrong("open has no hook of this index")
	case c.Hook != nil:
		run = func(ctx context.Context) callResult { return runHook(ctx, x.hooks[*c.Hook], c.Input) }
	default:
		for _, t := range x.tools {
			if t.Name == c.Tool {
				run = func(ctx context.Context) callResult { return runTool(ctx, t, c) }
			}
		}
		if run == nil {
			return wrong("open has no tool " + c.Tool)
		}
	}
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if x.running[c.ID] != nil {
		return wrong("a call with this id runs")
	}
	ctx, cancel := context.WithCancel(context.Background())
	if x.running == nil {
		x.running = map[string]context.CancelFunc{}
	}
	x.running[c.ID] = cancel
	go func() {
		result := run(ctx)
		result.Do, result.Call = "result", c.ID
		x.Mu.Lock()
		delete(x.running, c.ID)
		x.Mu.Unlock()
		cancel()
		x.write(result) // also of a cancelled call: the program may wait until it has ended
	}()
	return nil
}

// cancelCall cancels a call. One that has returned already is no mistake.
func (x *session) cancelCall(id string) {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	if cancel := x.running[id]; cancel != nil {
		cancel()
	}
}

// cancelCalls cancels all calls when the program has ended.
func (x *session) cancelCalls() {
	x.Mu.Lock()
	defer x.Mu.Unlock()
	for _, cancel := range x.running {
		cancel()
	}
}

func runTool(ctx context.Context, t adapters.Tool, c *clientCall) callResult {
	a, err := t.Call(ctx, adapters.ToolCall{ID: c.ToolUseID, Input: c.Input})
	if err != nil {
		return callResult{Error: failure(err)}
	}
	r := callResult{IsError: a.IsError}
	for _, p := range a.Content {
		r.Content = append(r.Content, callContent{p.Text, p.Image, p.MIME})
	}
	return r
}

func runHook(ctx context.Context, h adapters.Hook, input event.Raw) callResult {
	out, err := h.Call(ctx, input)
	if err != nil {
		return callResult{Error: failure(err)}
	}
	return callResult{Output: out}
}

// failure returns the words of an error, which are never empty.
func failure(err error) string {
	if text := err.Error(); text != "" {
		return text
	}
	return "it failed"
}
