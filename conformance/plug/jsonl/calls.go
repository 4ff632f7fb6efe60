package jsonl

import (
	"context"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// callResult is the command with the result of a call. It has no id and gets no reply.
type callResult struct {
	Do   string `json:"do"`
	Call string `json:"call"`
	plug.CallResult
}

// offer adds the tools, hooks and components of the client to the command open.
func (x *session) offer(c *openCommand, o conformance.Open) {
	x.tools, x.hooks = o.Tools, o.Hooks
	c.Tools, c.Hooks, c.Components = plug.ClientTools(o), plug.ClientHooks(o), o.Components
}

// handleCall starts a call of the client.
func (x *session) handleCall(c *plug.ClientCall) *plug.Error {
	const next = `give each call another id, and name a tool of open, or a hook by its index: {"call":{"id":"c1","tool":"lookup","input":{}}}`
	wrong := func(what string) *plug.Error { return plug.Errorf("call %q: %s", c.ID, what).Advise(next) }
	run, problem := plug.CallRunner(x.tools, x.hooks, c)
	if problem != "" {
		return wrong(problem)
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
		result := callResult{"result", c.ID, run(ctx)}
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
