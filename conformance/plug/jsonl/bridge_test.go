package jsonl_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
)

// bridge is a program that wraps a reference adapter, perhaps with a defect. So if
// its run fails, the mistake is in this package.
type bridge struct {
	runtime string
	without []string
	cannot  string // the ability that it does not have; "": it has all
	// event replaces what is written for an event; nil writes the event.
	event func(e event.Event, write func(event.Event))
	// reply replaces the id of a reply.
	reply func(do string, id int) []int
	// takes is how many messages it accepts; 0 means all.
	takes int
	// wrap breaks the adapter; nil: it is the reference.
	wrap func(conformance.Subject) conformance.Subject

	sent    int
	asked   int // calls of the client's tools and hooks
	results map[string]chan *command
	mu      sync.Mutex
	sess    adapters.Session
	seen    sync.WaitGroup
}

func (b *bridge) write(line any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out, err := json.Marshal(line, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.Write(append(out, '\n'))
}

// run speaks the protocol until stdin is closed.
func (b *bridge) run() {
	all := []string{
		"answer", "question", "stop", "steer", "resume", "fork", "set_model", "set_mode", "attach", "priority", "withdraw", "stop_task",
		"revert", "rewind", "compact", "archive", "rename", "list", "mcp", "schema", "stream_tool_input", "limits", "tools", "hooks", "components",
	}
	all = slices.DeleteFunc(all, func(ability string) bool { return ability == b.cannot })
	b.write(map[string]any{"hello": map[string]any{"protocol": 1, "runtime": b.runtime, "can": all, "without": b.without}})
	in := bufio.NewReader(os.Stdin)
	var work sync.WaitGroup
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var c command
		if err := json.Unmarshal(line, &c, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(true)); err != nil {
			panic(err)
		}
		if c.Do == "result" {
			b.mu.Lock()
			result := b.results[c.Of]
			b.mu.Unlock()
			result <- &c
			continue
		}
		do := func() {
			reply := map[string]any{"id": c.ID}
			if err := b.do(&c); err != nil {
				code := "refused"
				for name, is := range map[string]error{
					"unsupported": adapters.ErrUnsupported, "unknown_id": adapters.ErrUnknownID, "no_turn": adapters.ErrNoTurn, "closed": adapters.ErrClosed,
				} {
					if errors.Is(err, is) {
						code = name
					}
				}
				if open, ok := errors.AsType[*adapters.OpenError](err); ok {
					code = string(open.Code)
				}
				reply["error"] = map[string]any{"code": code, "message": err.Error()}
			}
			ids := []int{c.ID}
			if c.Do == "list" && err == nil {
				reply["listed"] = c.listed
			}
			if b.reply != nil {
				ids = b.reply(c.Do, c.ID)
			}
			for _, id := range ids {
				reply["id"] = id
				b.write(map[string]any{"reply": reply})
			}
		}
		if c.Do == "open" {
			do()
		} else {
			work.Go(do)
		}
	}
	work.Wait()
	b.seen.Wait()
}

// command is a line to a program, as its author would declare it.
type command struct {
	ID int
	op.Call
	SessionID string `json:"session_id"`
	Dir       string
	Command   []string
	Args      []string
	Resume    string
	After     event.Position
	Fork      bool
	At        string
	Limits    struct {
		Start int64 `json:"start_ms"`
		Stop  int64 `json:"stop_ms"`
		Stall int64 `json:"stall_ms"`
	}
	Unarchive bool

	StreamToolInput bool `json:"stream_tool_input"`

	Checkpoints, Questions bool
	MCP                    []struct {
		Name, Command, Type, URL string
		Args                     []string
		Env, Headers             map[string]string
	}
	Schema     jsontext.Value
	Components jsontext.Value
	Tools      []struct {
		Name, Description string
		Schema            jsontext.Value
		ReadOnly          bool `json:"read_only"`
	}
	Hooks []struct {
		Event, Matcher string
		Timeout        float64 `json:"timeout_s"`
	}

	Of      string `json:"call"` // of result: the id of the call
	Content []struct {
		Text  string
		Image []byte
		MIME  string
	}
	IsError bool `json:"is_error"`
	Output  jsontext.Value
	Error   string

	Files     []event.Attachment
	Priority  string
	RequestID string `json:"request_id"`
	Decision  string
	Message   string
	Input     jsontext.Value
	Value     jsontext.Value
	Scope     string

	listed []adapters.Listed // the result of list
}

func (b *bridge) do(c *command) error {
	ctx := context.Background()
	if c.Do == "open" {
		return b.open(ctx, c)
	}
	if c.Do == "send" && b.takes > 0 {
		if b.sent++; b.sent > b.takes {
			return adapters.ErrUnsupported
		}
	}
	s := b.sess
	switch c.Do {
	case "send":
		return s.Send(ctx, adapters.Message{ID: c.MessageID, Text: c.Text, Attachments: c.Files, Priority: adapters.Priority(c.Priority)})
	case "answer":
		return s.Answer(ctx, c.RequestID, adapters.Answer{
			Decision: event.Decision(c.Decision), Value: c.Value, Input: c.Input, Message: c.Message, Scope: adapters.Scope(c.Scope),
		})
	case "stop":
		return s.Stop(ctx)
	case "close":
		err := s.Close(ctx)
		b.seen.Wait()
		return err
	}
	result, err := adapters.Do(ctx, s, c.Call)
	c.listed, _ = result.([]adapters.Listed)
	return err
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func (b *bridge) open(ctx context.Context, c *command) error {
	s := backend.Adapter("claude", claude.New())
	if b.runtime == "codex" {
		s = backend.Adapter("codex", codex.New())
	}
	if b.wrap != nil {
		s = b.wrap(s)
	}
	o := conformance.Open{
		Opening: op.Opening{
			SessionID: c.SessionID, Dir: c.Dir, Command: c.Command, Args: c.Args, Model: c.Model, Mode: c.Mode, Resume: c.Resume,
			Fork: c.Fork, At: c.At, Unarchive: c.Unarchive, Checkpoints: c.Checkpoints, StreamToolInput: c.StreamToolInput,
		},
		After:     c.After,
		Questions: c.Questions, Schema: c.Schema,
		Limits: adapters.Limits{Handshake: ms(c.Limits.Start), Stop: ms(c.Limits.Stop), Idle: ms(c.Limits.Stall / 2), Request: ms(c.Limits.Stall / 2)},
	}
	for _, m := range c.MCP {
		o.MCP = append(o.MCP, adapters.MCPServer{Name: m.Name, Command: m.Command, Args: m.Args, Env: m.Env, URL: m.URL, SSE: m.Type == "sse", Headers: m.Headers})
	}
	b.addCalls(&o, c)
	sess, err := s.Open(ctx, o)
	if err != nil {
		return err
	}
	b.sess = sess
	b.seen.Go(func() {
		write := func(e event.Event) { b.write(map[string]any{"event": e}) }
		for e := range sess.Events() {
			if b.event != nil {
				b.event(e, write)
			} else {
				write(e)
			}
		}
	})
	return nil
}

// says returns a program that writes the first line at its start and one for each
// command. An element may hold several lines, which it writes at once.
func says(lines ...string) func() {
	return func() {
		in := bufio.NewReader(os.Stdin)
		for _, l := range lines {
			_, _ = os.Stdout.WriteString(l + "\n")
			if _, err := in.ReadBytes('\n'); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, in)
	}
}

// addCalls adds the tools and hooks of the client, which are called over the wire.
func (b *bridge) addCalls(o *conformance.Open, c *command) {
	o.Components = c.Components
	for _, t := range c.Tools {
		o.Tools = append(o.Tools, adapters.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, ReadOnly: t.ReadOnly,
			Call: func(ctx context.Context, call adapters.ToolCall) (adapters.ToolAnswer, error) {
				r, err := b.call(ctx, map[string]any{"tool": t.Name, "input": call.Input, "tool_use_id": call.ID})
				if err != nil {
					return adapters.ToolAnswer{}, err
				}
				a := adapters.ToolAnswer{IsError: r.IsError}
				for _, p := range r.Content {
					a.Content = append(a.Content, adapters.ToolContent{Text: p.Text, Image: p.Image, MIME: p.MIME})
				}
				return a, nil
			}})
	}
	for i, h := range c.Hooks {
		o.Hooks = append(o.Hooks, adapters.Hook{Event: h.Event, Matcher: h.Matcher, Timeout: time.Duration(h.Timeout * float64(time.Second)),
			Call: func(ctx context.Context, input event.Raw) (event.Raw, error) {
				r, err := b.call(ctx, map[string]any{"hook": i, "input": input})
				if err != nil {
					return nil, err
				}
				return r.Output, nil
			}})
	}
}

// call asks the client for a call and waits for its result.
func (b *bridge) call(ctx context.Context, call map[string]any) (*command, error) {
	b.mu.Lock()
	b.asked++
	id := fmt.Sprint("c", b.asked)
	result := make(chan *command, 1)
	if b.results == nil {
		b.results = map[string]chan *command{}
	}
	b.results[id] = result
	b.mu.Unlock()
	call["id"] = id
	b.write(map[string]any{"call": call})
	select {
	case r := <-result:
		if r.Error != "" {
			return nil, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		b.write(map[string]any{"cancel": map[string]any{"id": id}})
		<-result // the tool may take its time to end
		return nil, ctx.Err()
	}
}
