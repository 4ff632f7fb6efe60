package component_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/component"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// agent is an adapter in memory. A test emits its events and calls its tools.
type agent struct {
	adapters.Session // of what a test does not call
	o                adapters.Options
	able             adapters.Capabilities
	events           chan event.Event
	seq              int64
	sent             []adapters.Message
	stops            int
	mu               sync.Mutex
	answered         []string // guarded by mu
	once             sync.Once
}

func (a *agent) Capabilities() adapters.Capabilities { return a.able }

func (a *agent) Open(_ context.Context, o adapters.Options) (adapters.Session, error) {
	a.o, a.seq, a.events = o, o.After.Seq, make(chan event.Event)
	return a, nil
}

func (a *agent) Events() <-chan event.Event { return a.events }

func (a *agent) Send(_ context.Context, m adapters.Message) error {
	a.sent = append(a.sent, m)
	return nil
}

func (a *agent) Stop(context.Context) error { a.stops++; return nil }

func (a *agent) Answer(_ context.Context, id string, _ adapters.Answer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answered = append(a.answered, id)
	return nil
}

func (a *agent) Close(context.Context) error {
	a.once.Do(func() { close(a.events) })
	return nil
}

// Rename is the one optional ability that the agent has.
func (a *agent) Rename(_ context.Context, name string) error {
	a.sent = append(a.sent, adapters.Message{Text: name})
	return nil
}

// emit emits events in turn 1; session_ready and session_end have no turn.
func (a *agent) emit(list ...event.Data) {
	for _, d := range list {
		turn := 1
		switch d.(type) {
		case event.SessionReady, event.SessionEnd:
			turn = 0
		}
		a.seq++
		a.events <- event.Event{Data: d, TS: time.Now().UTC().Round(0), Seq: a.seq, SessionID: "s", Turn: turn}
	}
}

// called is a running call of a tool.
type called struct {
	done   chan struct{}
	cancel func()
	answer adapters.ToolAnswer
	err    error
}

func (a *agent) call(tool, id, input string) *called {
	ctx, cancel := context.WithCancel(context.Background())
	c := &called{done: make(chan struct{}), cancel: cancel}
	for _, t := range a.o.Tools {
		if t.Name == tool {
			go func() {
				defer close(c.done)
				c.answer, c.err = t.Call(ctx, adapters.ToolCall{ID: id, Input: event.Raw(input)})
			}()
			return c
		}
	}
	panic("no tool " + tool)
}

// text waits for the answer and returns its text, with the prefix ! for a failure.
func (c *called) text() string {
	<-c.done
	switch {
	case c.err != nil:
		return "!!" + c.err.Error()
	case c.answer.IsError:
		return "!" + c.answer.Content[0].Text
	}
	return c.answer.Content[0].Text
}

func (c *called) returned() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// reader collects the events of a session.
type reader struct {
	mu   sync.Mutex
	list []event.Event
	done chan struct{}
}

func startReader(s adapters.Session) *reader {
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
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event.Event(nil), r.list...)
}

// eventLines formats events for short tables: type, id and other important fields.
func eventLines(events []event.Event) []string {
	var out []string
	for _, e := range events {
		w := string(e.Type())
		switch d := e.Data.(type) {
		case event.ComponentUpdate:
			w += " " + d.ComponentID + " " + string(d.Props)
		case event.ComponentRemove:
			w += " " + d.ComponentID
		case event.ToolStart:
			w += " " + d.ToolUseID
		case event.ToolResult:
			w += " " + d.ToolUseID
		case event.Interrupt:
			w += " " + d.InterruptID
		case event.InterruptResolved:
			w += " " + d.InterruptID + " " + string(d.Value) + " " + string(d.By)
		}
		out = append(out, w)
	}
	return out
}

// expectOrdered fails if seq has a gap or ts decreases.
func expectOrdered(g Gomega, events []event.Event, after int64) {
	var last time.Time
	for i, e := range events {
		g.Expect(e.Seq).To(BeEquivalentTo(after+int64(i)+1), "%v", eventLines(events))
		g.Expect(e.TS.Before(last)).To(BeFalse(), "ts of event %d", e.Seq)
		g.Expect(e.SessionID).To(Equal("s"))
		last = e.TS
	}
}

var able = adapters.Capabilities{Runtime: "codex", Can: op.Set{"tools"}}

// openSession opens a session with the kit. In its turn 1 the call t1 is running.
func openSession(t *testing.T, o adapters.Options, options ...component.Option) (*agent, component.Session, *reader) {
	t.Helper()
	a := &agent{able: able}
	s, err := component.Adapter(a, registry(t), options...).Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := startReader(s)
	a.emit(event.SessionReady{SessionID: "s", Runtime: "codex"}, event.TurnStart{Cause: event.CauseUser}, event.ToolStart{ToolUseID: "t1", Tool: "x"})
	return a, s.(component.Session), r
}

func tool(id string) event.ToolResult { return event.ToolResult{ToolUseID: id, Status: event.ToolOK} }

const begun = 3 // the number of events that openSession emits
