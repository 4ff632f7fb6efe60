package exchange_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// agents is an adapter in memory. answer is what its model does in a turn.
type agents struct {
	noTools bool
	answer  func(t *turn)
}

func (a *agents) Capabilities() adapters.Capabilities {
	if a.noTools {
		return adapters.Capabilities{Runtime: "memory"}
	}
	return adapters.Capabilities{Runtime: "memory", Can: op.Set{"tools"}}
}

func (a *agents) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	s := &agentSession{
		adapter: a, o: o, seq: o.After.Seq, number: o.After.Turn,
		events: make(chan event.Event), messages: make(chan adapters.Message, 16), closed: make(chan struct{}),
	}
	go s.run()
	return s, nil
}

// agentSession runs one turn after the other.
type agentSession struct {
	adapter  *agents
	o        adapters.Options
	events   chan event.Event
	messages chan adapters.Message
	closed   chan struct{}
	once     sync.Once

	mu     sync.Mutex
	seq    int64
	number int
	stop   context.CancelFunc // of the running turn
}

func (s *agentSession) run() {
	defer close(s.events)
	s.emit(0, event.SessionReady{SessionID: s.o.SessionID, Runtime: "memory"})
	for {
		select {
		case m := <-s.messages:
			if !s.runTurn(m) {
				return // it crashed
			}
		case <-s.closed:
			s.emit(0, event.SessionEnd{Reason: "closed"})
			return
		}
	}
}

func (s *agentSession) runTurn(m adapters.Message) (goOn bool) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.mu.Lock()
	s.number++
	t := &turn{s: s, ctx: ctx, n: s.number, message: m}
	s.stop = cancel
	s.mu.Unlock()
	t.emit(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}}, event.UserMessage{MessageID: m.ID, Text: m.Text, Via: event.ViaTurn})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.adapter.answer(t)
	}()
	select {
	case <-ended:
	case <-s.closed:
		cancel()
		<-ended
	}
	s.mu.Lock()
	s.stop = nil
	s.mu.Unlock()
	switch {
	case t.crashed:
		return false
	case t.failed:
		t.emit(event.Error{Code: event.ErrorModel, Message: "the model failed"})
	default:
		t.emit(event.Done{Stopped: ctx.Err() != nil})
	}
	return true
}

func (s *agentSession) emit(turn int, d event.Data) {
	s.mu.Lock()
	s.seq++
	e := event.Event{Data: d, TS: time.Now().UTC().Round(0), Seq: s.seq, SessionID: s.o.SessionID, Turn: turn}
	s.mu.Unlock()
	s.events <- e
}

func (s *agentSession) Send(_ context.Context, m adapters.Message) error {
	if m.Text == "refuse this" {
		return adapters.ErrRefused
	}
	select {
	case <-s.closed:
		return adapters.ErrClosed
	default:
		s.messages <- m
		return nil
	}
}

func (s *agentSession) Events() <-chan event.Event { return s.events }

func (s *agentSession) Stop(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil {
		s.stop()
	}
	return nil
}

func (s *agentSession) Answer(context.Context, string, adapters.Answer) error {
	return adapters.ErrUnknownID
}

func (s *agentSession) Close(context.Context) error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// turn is a turn of an agentSession.
type turn struct {
	s       *agentSession
	ctx     context.Context
	n       int
	message adapters.Message
	blocks  int
	failed  bool
	crashed bool
}

func (t *turn) emit(list ...event.Data) {
	for _, d := range list {
		t.s.emit(t.n, d)
	}
}

// say emits a block of text.
func (t *turn) say(format string, args ...any) {
	t.blocks++
	id := fmt.Sprintf("b%d.%d", t.n, t.blocks)
	for _, piece := range strings.SplitAfter(fmt.Sprintf(format, args...), " ") {
		t.emit(event.Delta{Text: piece, MessageID: "m", BlockID: id})
	}
	t.emit(event.BlockEnd{BlockID: id, Status: event.BlockComplete})
}

// run emits a call of a tool of the runtime.
func (t *turn) run(id string) {
	t.emit(event.ToolStart{ToolUseID: id, Tool: "Bash", Input: event.Raw(`{}`)}, event.ToolResult{ToolUseID: id, Output: "done", Status: event.ToolOK})
}

// ask calls agents_message.
func (t *turn) ask(id, input string) {
	for _, tool := range t.s.o.Tools {
		if tool.Name != exchange.ToolName {
			continue
		}
		t.emit(event.ToolStart{ToolUseID: id, Tool: tool.Name, Input: event.Raw(input)})
		a, err := tool.Call(t.ctx, adapters.ToolCall{ID: id, Input: event.Raw(input)})
		r := event.ToolResult{ToolUseID: id, Status: event.ToolOK}
		switch {
		case t.ctx.Err() != nil:
			r.Status = event.ToolInterrupted
		case err != nil:
			r.Status, r.IsError, r.Output = event.ToolError, true, err.Error()
		default:
			r.IsError, r.Output = a.IsError, a.Content[0].Text
			if a.IsError {
				r.Status = event.ToolError
			}
		}
		t.emit(r)
		return
	}
}

// wait waits until the turn is stopped.
func (t *turn) wait() { <-t.ctx.Done() }

// reader reads the events of a session.
type reader struct {
	mu   sync.Mutex
	list []event.Event
	done chan struct{}
}

func read(s adapters.Session) *reader {
	r := &reader{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for e := range s.Events() {
			r.mu.Lock()
			r.list = append(r.list, e)
			r.mu.Unlock()
		}
	}()
	return r
}

func (r *reader) events() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event.Event(nil), r.list...)
}

// recorded opens the sessions of a hub and reads their events.
type recorded struct {
	hub      *exchange.Hub
	adapters map[string]adapters.Adapter

	mu       sync.Mutex
	sessions map[string]adapters.Session
	readers  map[string]*reader
	opened   []exchange.Opening

	breakSend func(m adapters.Message, send func(adapters.Message) error) error // if it is not nil
}

// newRecorded returns a hub with agents by their names.
func newRecorded(c exchange.Config, all map[string]*agents) *recorded {
	r := &recorded{}
	r.init(c, all)
	return r
}

func (r *recorded) init(c exchange.Config, all map[string]*agents) {
	r.adapters, r.sessions, r.readers = map[string]adapters.Adapter{}, map[string]adapters.Session{}, map[string]*reader{}
	c.Host = r
	r.hub = exchange.New(c)
	for name, a := range all {
		r.adapters[name] = r.hub.Adapter(name, a)
	}
}

// Open implements exchange.Host.
func (r *recorded) Open(ctx context.Context, o exchange.Opening) error {
	s, err := r.adapters[o.Agent].Open(ctx, adapters.Options{Opening: op.Opening{SessionID: o.SessionID, Dir: o.Dir, Mode: o.Mode}})
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions[o.SessionID], r.readers[o.SessionID] = s, read(s)
	r.opened = append(r.opened, o)
	return nil
}

// Send implements exchange.Host.
func (r *recorded) Send(ctx context.Context, session string, m adapters.Message) error {
	return r.sendTo(ctx, session, m)
}

func (r *recorded) session(id string) adapters.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[id]
}

func (r *recorded) events(id string) []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.readers[id].events()
}

// close ends all sessions.
func (r *recorded) close() {
	r.mu.Lock()
	all := make([]adapters.Session, 0, len(r.sessions))
	for _, s := range r.sessions {
		all = append(all, s)
	}
	r.mu.Unlock()
	for _, s := range all {
		_ = s.Close(context.Background())
	}
}
