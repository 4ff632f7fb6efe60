package perform

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// clientCalls offers the tools, hooks and MCP servers of a scenario's client, and
// answers the runtime's calls as the scenario defines. The director's mu guards its
// fields.
type clientCalls struct {
	d         *director
	called    map[string]bool          // tools and hooks, by name
	written   map[string]chan struct{} // by file; closed when it is written
	hookCalls map[int]int              // calls of each hook, by its number
}

func (c *clientCalls) init(d *director) {
	*c = clientCalls{d: d, called: map[string]bool{}, written: map[string]chan struct{}{}, hookCalls: map[int]int{}}
}

// writtenFile returns a channel that is closed when a step writes the file.
func (c *clientCalls) writtenFile(name string) chan struct{} {
	ch := c.written[name]
	if ch == nil {
		ch = make(chan struct{})
		c.written[name] = ch
	}
	return ch
}

// awaitFile waits until a step writes the file.
func (c *clientCalls) awaitFile(ctx context.Context, name string) error {
	c.d.mu.Lock()
	ch := c.writtenFile(name)
	c.d.mu.Unlock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *clientCalls) fileWritten(name string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	ch := c.writtenFile(name)
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// recordCall records a call and waits for the file that its answer waits for.
func (c *clientCalls) recordCall(ctx context.Context, name, file string) error {
	c.d.mu.Lock()
	c.called[name] = true
	c.d.spend(0)
	close(c.d.changed) // a wait may be for this call
	c.d.changed = make(chan struct{})
	if file == "" {
		c.d.mu.Unlock()
		return nil
	}
	ch, n := c.writtenFile(file), len(c.d.run.BlockedCalls)
	c.d.run.BlockedCalls = append(c.d.run.BlockedCalls, conformance.BlockedCall{Name: name})
	c.d.mu.Unlock()
	var err error
	select {
	case <-ch:
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.updateBlocked(n, func(b *conformance.BlockedCall) {
		b.Over, b.Cancelled, b.At = true, err != nil, time.Since(c.d.start)
	})
	if err != nil {
		time.Sleep(cleanupTime)
		c.updateBlocked(n, func(b *conformance.BlockedCall) { b.Returned = time.Since(c.d.start) })
	}
	return err
}

// cleanupTime is how long a tool or hook takes to return after its call was
// cancelled.
const cleanupTime = time.Second

// updateBlocked changes the record of a call that waited, unless the run is being
// judged already.
func (c *clientCalls) updateBlocked(n int, change func(*conformance.BlockedCall)) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	if !c.d.finished {
		change(&c.d.run.BlockedCalls[n])
	}
}

// addTo adds the scenario's servers, tools, hooks, components, schema and policy.
func (c *clientCalls) addTo(o *conformance.Open) {
	s := c.d.run.Scenario
	o.Questions = slices.Contains(s.Needs, "elicitation")
	for _, srv := range s.Servers {
		if srv.Remote.Transport != "" {
			o.MCP = append(o.MCP, adapters.MCPServer{
				Name: srv.Name, URL: fixtures.ServerURL(srv.Name), SSE: srv.Remote.Transport == fixtures.TransportSSE, Headers: srv.Remote.Headers,
			})
			continue
		}
		o.MCP = append(o.MCP, adapters.MCPServer{Name: srv.Name, Command: fixtures.ServerCommand(srv.Name), Env: srv.Env})
	}
	o.Components = s.Components
	for i := range s.Tools {
		t := &s.Tools[i]
		if s.Components != nil && adapters.IsComponentTool(t.Name) {
			continue // the subject offers it itself
		}
		o.Tools = append(o.Tools, adapters.Tool{
			Name: t.Name, Description: t.Description, Schema: t.Schema, ReadOnly: t.ReadOnly,
			Call: func(ctx context.Context, call adapters.ToolCall) (adapters.ToolAnswer, error) {
				return c.callTool(ctx, t, call)
			},
		})
	}
	for i := range s.Hooks {
		h := &s.Hooks[i]
		o.Hooks = append(o.Hooks, adapters.Hook{
			Event: h.Event, Matcher: h.Matcher, Timeout: time.Duration(h.Timeout) * time.Second,
			Call: func(ctx context.Context, _ event.Raw) (event.Raw, error) { return c.callHook(ctx, i) },
		})
	}
	o.Schema, o.Policy = s.Schema, s.Policy
}

func (c *clientCalls) callTool(ctx context.Context, t *fixtures.Tool, call adapters.ToolCall) (adapters.ToolAnswer, error) {
	c.d.mu.Lock()
	n := len(c.d.run.ToolCalls)
	c.d.run.ToolCalls = append(c.d.run.ToolCalls, conformance.ToolCall{Tool: t.Name, Input: call.Input})
	c.d.mu.Unlock()
	if err := c.recordCall(ctx, t.Name, t.Awaits); err != nil {
		return adapters.ToolAnswer{}, err
	}
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.d.run.ToolCalls[n].Answered = ctx.Err() == nil
	return toolAnswer(t)
}

func (c *clientCalls) callHook(ctx context.Context, number int) (event.Raw, error) {
	h := &c.d.run.Scenario.Hooks[number]
	c.d.mu.Lock()
	n := c.hookCalls[number]
	c.hookCalls[number]++
	c.d.mu.Unlock()
	if err := c.recordCall(ctx, h.Event, h.Awaits); err != nil {
		return nil, err
	}
	switch {
	case h.Fail != "":
		return nil, errors.New(h.Fail)
	case n < len(h.Replies):
		return h.Replies[n], nil
	}
	return nil, nil
}

// answerComponent answers, as the user, the question of a component whose tool
// waits for this file.
func (d *director) answerComponent(ctx context.Context, file string) error {
	s := d.run.Scenario
	i := slices.IndexFunc(s.Tools, func(t fixtures.Tool) bool { return t.Name == adapters.ToolAskComponent && t.Awaits == file })
	if s.Components == nil || i < 0 || len(s.Tools[i].Result) == 0 || d.sess == nil {
		return nil
	}
	value := jsontext.Value(s.Tools[i].Result[0].Text)
	answer := fixtures.Step{Verb: fixtures.VerbAnswer, Value: value}
	d.waitUntil(func() bool { _, ok := d.findQuestion(answer); return ok || d.faultEndedSession() }, d.idleWait())
	q, ok := d.findQuestion(answer)
	if !ok {
		return nil // the checks judge a missing question
	}
	return d.sess.Answer(ctx, q.id, adapters.Answer{Value: value})
}

// toolAnswer returns the answer that the scenario defines for a tool.
func toolAnswer(t *fixtures.Tool) (adapters.ToolAnswer, error) {
	if t.Fail != "" {
		return adapters.ToolAnswer{}, errors.New(t.Fail)
	}
	a := adapters.ToolAnswer{IsError: t.IsError}
	for _, r := range t.Result {
		if r.Image == "" {
			a.Content = append(a.Content, adapters.ToolContent{Text: r.Text})
			continue
		}
		data, err := base64.StdEncoding.DecodeString(r.Image)
		if err != nil {
			return a, err
		}
		mime := r.MIME
		if mime == "" {
			mime = "image/png"
		}
		a.Content = append(a.Content, adapters.ToolContent{Image: data, MIME: mime})
	}
	return a, nil
}
