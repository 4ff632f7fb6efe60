package component

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/loopcall"
)

// maxAhead is how many events may be unread before a change by the user or the host
// is rejected. Agents wait instead.
const maxAhead = 1024

// ErrBacklog is returned if too many events are unread.
var ErrBacklog = errors.New("too many events are unread")

// session inserts events between those of another session. One goroutine, forwardEvents, owns
// the stage and the order of events; the other goroutines send functions to it.
type session struct {
	inner adapters.Session
	limit time.Duration // Limits.Term
	out   chan event.Event
	inbox chan func()
	done  chan struct{} // closed when forwardEvents has returned
	gone  chan struct{} // closed if Close drops the unread events
	drop  sync.Once

	taken  atomic.Int64 // when the last event was read, in Unix nanoseconds
	depth  atomic.Int64 // of the queue
	oldest atomic.Int64 // the time at which its first event was queued, in Unix nanoseconds

	// Owned by forwardEvents:
	stage      *Stage
	queue      []queued
	seq        int64 // of the last event
	shift      int64 // the number of inserted events
	id         string
	ts         time.Time
	turn       int                             // the running one, or 0
	calls      map[string]place                // running tools by their id
	parked     map[string][]func(place, error) // changes that wait for a tool_start
	interrupts map[string]*openInterrupt       // by interrupt_id
	ended      bool                            // no event may follow
}

// queued is an unread event. forwardEvents calls then after it was read.
type queued struct {
	e    event.Event
	at   time.Time
	then func()
}

// place is the turn and the sub-agent of an event.
type place struct {
	turn     int
	subagent string
}

// caller is who changes the stage: an agent with a call, or the user or the host.
type caller struct {
	agent bool
	call  string // the id of the call, if the runtime sends it
}

func newSession(stage *Stage, o adapters.Options) *session {
	s := &session{
		limit: o.Limits.WithDefaults().Term, stage: stage, seq: o.After.Seq,
		out: make(chan event.Event), inbox: make(chan func()), done: make(chan struct{}), gone: make(chan struct{}),
		calls: map[string]place{}, parked: map[string][]func(place, error){}, interrupts: map[string]*openInterrupt{},
	}
	s.taken.Store(time.Now().UnixNano())
	return s
}

// forwardEvents forwards events until the inner session has ended.
func (s *session) forwardEvents() {
	defer close(s.done)
	defer close(s.out)
	in := s.inner.Events()
	var inbox chan func() // accept no change before the first event
	for in != nil || len(s.queue) > 0 {
		var out chan event.Event
		var head event.Event
		from := in
		s.depth.Store(int64(len(s.queue)))
		if len(s.queue) > 0 {
			out, head, from = s.out, s.queue[0].e, nil
			s.oldest.Store(s.queue[0].at.UnixNano())
		}
		select {
		case e, ok := <-from:
			if !ok {
				in = nil
				s.endStream()
				continue
			}
			s.forward(e)
			inbox = s.inbox
		case f := <-inbox:
			f()
		case out <- head:
			s.taken.Store(time.Now().UnixNano())
			then := s.queue[0].then
			s.queue[0] = queued{}
			if s.queue = s.queue[1:]; len(s.queue) == 0 {
				s.queue = nil
			}
			if then != nil {
				then()
			}
		case <-s.gone:
			s.queue = nil
			for range s.inner.Events() { // its own Close ends them
			}
			return
		}
	}
	s.depth.Store(0)
}

// forward queues an event of the inner session.
func (s *session) forward(e event.Event) {
	s.id = e.SessionID
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.turn = e.Turn
	case event.ToolResult:
		delete(s.calls, d.ToolUseID)
		s.withdrawInterrupts(func(k *openInterrupt) bool { return k.call == d.ToolUseID })
		s.unpark(d.ToolUseID, place{}, errLate)
	case event.Done, event.Error:
		if e.SubagentID != "" {
			break
		}
		s.withdrawInterrupts(func(k *openInterrupt) bool { return k.at.subagent == "" && k.at.turn == e.Turn || e.Turn == 0 })
		for id := range s.parked {
			s.unpark(id, place{}, errLate)
		}
		if s.turn == e.Turn || e.Turn == 0 {
			s.turn = 0
		}
	case event.SessionEnd:
		s.endStream()
	}
	e.Seq += s.shift
	s.seq = e.Seq
	if e.TS.Before(s.ts) {
		e.TS = s.ts // it waited while another event was inserted before it
	}
	s.ts = e.TS
	s.stage.Add(e)
	s.queue = append(s.queue, queued{e, time.Now(), nil})
	if d, ok := e.Data.(event.ToolStart); ok {
		s.calls[d.ToolUseID] = place{e.Turn, e.SubagentID}
		s.unpark(d.ToolUseID, place{e.Turn, e.SubagentID}, nil)
	}
}

// endStream resolves open interrupts and rejects waiting changes, because no event
// may follow.
func (s *session) endStream() {
	if s.ended {
		return
	}
	s.withdrawInterrupts(func(*openInterrupt) bool { return true })
	for id := range s.parked {
		s.unpark(id, place{}, adapters.ErrClosed)
	}
	s.ended = true
}

var errLate = errors.New("the call has ended")

func (s *session) unpark(call string, at place, err error) {
	fs := s.parked[call]
	delete(s.parked, call)
	for _, f := range fs {
		f(at, err)
	}
}

// insert queues an event of this package.
func (s *session) insert(at place, d event.Data, then func()) {
	s.seq++
	s.shift++
	s.ts = s.insertTime()
	e := event.Event{Data: d, TS: s.ts, Seq: s.seq, SessionID: s.id, Turn: at.turn, SubagentID: at.subagent}
	s.stage.Add(e)
	s.queue = append(s.queue, queued{e, time.Now(), then})
}

// insertTime returns the ts of an inserted event: not before the last event, and not
// after the inner session's events that are already waiting.
func (s *session) insertTime() time.Time {
	t := time.Now()
	if b, ok := adapters.As[adapters.Backlogger](s.inner); ok {
		if n, age := b.Backlog(); n > 0 {
			t = t.Add(-age)
		}
	}
	if t = t.UTC().Round(0); t.Before(s.ts) {
		return s.ts
	}
	return t
}

// inRun calls f in the goroutine of forwardEvents and waits for its reply.
func (s *session) inRun(ctx context.Context, f func(reply func(error))) error {
	answer := make(chan error, 1)
	reply := func(err error) { answer <- err } // once
	return loopcall.Do(ctx, s.inbox, s.done, func() { f(reply) }, answer)
}

// changeStage makes a change of the stage and queues its events. A change by an agent's
// call is made after the tool_start of the call, and changeStage returns when its
// events have been read. Any other change belongs to the running turn.
func (s *session) changeStage(ctx context.Context, who caller, change func(at place) ([]event.Data, error)) error {
	return s.inRun(ctx, func(reply func(error)) {
		makeChange := func(at place, err error) {
			if err == nil {
				err = ctx.Err()
			}
			var events []event.Data
			if err == nil {
				events, err = change(at)
			}
			if !who.agent || len(events) == 0 {
				defer reply(err)
			}
			for i, d := range events {
				var then func()
				if who.agent && i == len(events)-1 {
					then = func() { reply(nil) }
				}
				s.insert(at, d, then)
			}
		}
		at, begun := s.calls[who.call]
		switch {
		case s.ended:
			reply(adapters.ErrClosed)
		case !who.agent && len(s.queue) >= maxAhead:
			reply(ErrBacklog)
		case begun:
			makeChange(at, nil)
		case who.call == "":
			makeChange(place{turn: s.turn}, nil)
		default:
			s.parked[who.call] = append(s.parked[who.call], makeChange)
		}
	})
}

// The operations of the tools.

func (s *session) updateComponent(ctx context.Context, who caller, d event.ComponentUpdate) error {
	return s.changeStage(ctx, who, func(place) ([]event.Data, error) {
		if _, err := s.stage.updated(d); err != nil {
			return nil, err
		}
		if d.ComponentID == StateID {
			return nil, errors.New("only patches change the state")
		}
		d.Props = d.Props.Clone()
		return []event.Data{d}, nil
	})
}

func (s *session) removeComponent(ctx context.Context, who caller, id string) error {
	return s.changeStage(ctx, who, func(place) ([]event.Data, error) {
		if id == StateID || s.stage.component(id) == nil {
			return nil, nil
		}
		return []event.Data{event.ComponentRemove{ComponentID: id}}, nil
	})
}

func (s *session) changeState(ctx context.Context, who caller, c Change) (State, error) {
	by := ByUser
	if who.agent {
		by = ByAgent
	}
	var now State
	err := s.changeStage(ctx, who, func(place) ([]event.Data, error) {
		next, events, err := s.stage.planChange(c, by)
		now = next
		return events, err
	})
	if err != nil {
		return State{}, err
	}
	return now, nil
}

func (s *session) readState(ctx context.Context) (State, error) {
	var now State
	err := s.inRun(ctx, func(reply func(error)) {
		now = s.stage.State()
		reply(nil)
	})
	if err != nil {
		return State{}, err
	}
	return now, nil
}
