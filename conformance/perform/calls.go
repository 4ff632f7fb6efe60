package perform

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/component"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// calls is what a scenario's client brings: tools, hooks and MCP servers. It
// answers the runtime's calls as the scenario says. Its fields are guarded by
// the director's mu.
type calls struct {
	d       *director
	called  map[string]bool          // tools and hooks, by name
	written map[string]chan struct{} // closed when the file is written
	hooked  map[int]int              // hooks by number: how often they were called
}

func (c *calls) init(d *director) {
	*c = calls{d: d, called: map[string]bool{}, written: map[string]chan struct{}{}, hooked: map[int]int{}}
}

// file is closed when an act writes it.
func (c *calls) file(name string) chan struct{} {
	ch := c.written[name]
	if ch == nil {
		ch = make(chan struct{})
		c.written[name] = ch
	}
	return ch
}

func (c *calls) wrote(name string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	ch := c.file(name)
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// call notes a call and waits for the file that its answer waits for.
func (c *calls) call(ctx context.Context, name, file string) error {
	c.d.mu.Lock()
	c.called[name] = true
	close(c.d.changed) // a wait may be for this
	c.d.changed = make(chan struct{})
	if file == "" {
		c.d.mu.Unlock()
		return nil
	}
	ch, n := c.file(file), len(c.d.run.BlockedCalls)
	c.d.run.BlockedCalls = append(c.d.run.BlockedCalls, conformance.BlockedCall{Name: name})
	c.d.mu.Unlock()
	var err error
	select {
	case <-ch:
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.note(n, conformance.BlockedCall{Name: name, Over: true, Cancelled: err != nil, At: time.Since(c.d.start)})
	if err != nil {
		time.Sleep(cleanup)
		c.note(n, conformance.BlockedCall{Returned: time.Since(c.d.start)})
	}
	return err
}

// cleanup is how long a tool or hook takes to return when nobody wants its answer
// any more.
const cleanup = time.Second

// note keeps what became of a call that waits.
func (c *calls) note(n int, of conformance.BlockedCall) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	switch w := &c.d.run.BlockedCalls[n]; {
	case c.d.over: // it comes too late
	case of.Over:
		*w = of
	default:
		w.Returned = of.Returned
	}
}

// into completes what a subject is to open.
func (c *calls) into(o *conformance.Open) {
	s := c.d.run.Scenario
	o.Questions = slices.Contains(s.Needs, "elicitation")
	for _, srv := range s.Servers {
		o.MCP = append(o.MCP, adapters.MCPServer{Name: srv.Name, Command: fixtures.ServerCommand(srv.Name)})
	}
	o.Components = s.Components
	for i := range s.Tools {
		t := &s.Tools[i]
		if s.Components != nil && component.IsTool(t.Name) {
			continue // the subject's own
		}
		o.Tools = append(o.Tools, adapters.Tool{
			Name: t.Name, Description: t.Description, Schema: t.Schema, ReadOnly: t.ReadOnly,
			Call: func(ctx context.Context, call adapters.ToolCall) (adapters.ToolAnswer, error) {
				c.d.mu.Lock()
				n := len(c.d.run.ToolCalls)
				c.d.run.ToolCalls = append(c.d.run.ToolCalls, conformance.ToolCall{Tool: t.Name, Input: call.Input})
				c.d.mu.Unlock()
				if err := c.call(ctx, t.Name, t.Awaits); err != nil {
					return adapters.ToolAnswer{}, err
				}
				c.d.mu.Lock()
				defer c.d.mu.Unlock()
				c.d.run.ToolCalls[n].Answered = ctx.Err() == nil
				return answerOf(t)
			},
		})
	}
	for i := range s.Hooks {
		h := &s.Hooks[i]
		o.Hooks = append(o.Hooks, adapters.Hook{
			Event: h.Event, Matcher: h.Matcher, Timeout: time.Duration(h.Timeout) * time.Second,
			Call: func(ctx context.Context, _ event.Raw) (event.Raw, error) {
				c.d.mu.Lock()
				n := c.hooked[i]
				c.hooked[i]++
				c.d.mu.Unlock()
				if err := c.call(ctx, h.Event, h.Awaits); err != nil {
					return nil, err
				}
				switch {
				case h.Fail != "":
					return nil, errors.New(h.Fail)
				case n < len(h.Replies):
					return h.Replies[n], nil
				}
				return nil, nil
			},
		})
	}
	o.Schema, o.Policy = s.Schema, s.Policy
}

// chose lets the user answer the question of a component whose tool waits for
// this file.
func (d *director) chose(ctx context.Context, file string) error {
	s := d.run.Scenario
	i := slices.IndexFunc(s.Tools, func(t fixtures.Tool) bool { return t.Name == component.ToolAsk && t.Awaits == file })
	if s.Components == nil || i < 0 || len(s.Tools[i].Result) == 0 || d.sess == nil {
		return nil
	}
	value := jsontext.Value(s.Tools[i].Result[0].Text)
	act := fixtures.Step{Verb: fixtures.VerbAnswer, Value: value}
	d.settle(func() bool { _, ok := d.asked(act); return ok || d.died() }, d.patience())
	q, ok := d.asked(act)
	if !ok {
		return nil // what was not asked checks find
	}
	return d.sess.Answer(ctx, q.id, conformance.Answer{Value: value})
}

// answerOf is a tool's answer as the scenario has it.
func answerOf(t *fixtures.Tool) (adapters.ToolAnswer, error) {
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

// send sends a message with the files that it brings: as data, since in play
// there is no disk.
func (d *director) send(ctx context.Context, sess conformance.Session, act fixtures.Step) error {
	if len(act.Files) == 0 {
		return sess.Send(ctx, act.ID, act.Text)
	}
	with, ok := sess.(conformance.Attacher)
	if !ok {
		return adapters.ErrUnsupported
	}
	var files []event.Attachment
	for _, name := range act.Files {
		mime := fixtures.MIME(name)
		kind := "file"
		if mime[:min(6, len(mime))] == "image/" {
			kind = "image"
		}
		files = append(files, event.Attachment{
			Kind: kind, Name: name, MIME: mime,
			URL: "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(d.run.Scenario.Workspace[name]),
		})
	}
	return with.SendWith(ctx, act.ID, act.Text, files)
}
