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

// maxAhead is how many events may wait for a reader before what a user or the
// host changes is refused. Agents wait instead.
const maxAhead = 1024

// ErrBacklog says that too many events wait to be read.
var ErrBacklog = errors.New("too many events wait for their reader")

// session puts events between those of another session. One goroutine, run, owns
// the stage and the order; everybody else sends it functions.
type session struct {
	inner adapters.Session
	limit time.Duration // Limits.Term
	out   chan event.Event
	inbox chan func()
	done  chan struct{} // closed when run has ended
	gone  chan struct{} // closed when nobody reads any more
	drop  sync.Once

	taken  atomic.Int64 // when the last event was read, in Unix nanoseconds
	depth  atomic.Int64 // of the queue
	oldest atomic.Int64 // since when its first event waits, in Unix nanoseconds

	// Of run:
	stage  *Stage
	queue  []queued
	seq    int64 // of the last event
	shift  int64 // how many were put between
	id     string
	ts     time.Time
	turn   int                             // that runs, or 0
	calls  map[string]place                // tools that run, by their id
	parked map[string][]func(place, error) // what waits for a tool_start
	asks   map[string]*asked               // by interrupt_id
	ended  bool                            // no event may follow
}

// queued is an event that waits for the reader; then is called when it was read.
type queued struct {
	e    event.Event
	at   time.Time
	then func()
}

// place is where an event belongs.
type place struct {
	turn     int
	subagent string
}

// caller says in whose name the stage changes: by an agent's call, or by the
// user or the host.
type caller struct {
	agent bool
	call  string // the id of the call, where the runtime tells it
}

func newSession(stage *Stage, o adapters.Options) *session {
	s := &session{
		limit: o.Limits.WithDefaults().Term, stage: stage, seq: o.After.Seq,
		out: make(chan event.Event), inbox: make(chan func()), done: make(chan struct{}), gone: make(chan struct{}),
		calls: map[string]place{}, parked: map[string][]func(place, error){}, asks: map[string]*asked{},
	}
	s.taken.Store(time.Now().UnixNano())
	return s
}

// run passes events on until the inner session has ended.
func (s *session) run() {
	defer close(s.done)
	defer close(s.out)
	in := s.inner.Events()
	var inbox chan func() // nothing comes before the first event
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
				s.end()
				continue
			}
			s.pass(e)
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
			for range s.inner.Events() { // it ends them by itself
			}
			return
		}
	}
	s.depth.Store(0)
}

// pass takes an event of the inner session.
func (s *session) pass(e event.Event) {
	s.id = e.SessionID
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.turn = e.Turn
	case event.ToolResult:
		delete(s.calls, d.ToolUseID)
		s.withdraw(func(k *asked) bool { return k.call == d.ToolUseID })
		s.unpark(d.ToolUseID, place{}, errLate)
	case event.Done, event.Error:
		if e.SubagentID != "" {
			break
		}
		s.withdraw(func(k *asked) bool { return k.at.subagent == "" && k.at.turn == e.Turn || e.Turn == 0 })
		for id := range s.parked {
			s.unpark(id, place{}, errLate)
		}
		if s.turn == e.Turn || e.Turn == 0 {
			s.turn = 0
		}
	case event.SessionEnd:
		s.end()
	}
	e.Seq += s.shift
	s.seq = e.Seq
	if e.TS.Before(s.ts) {
		e.TS = s.ts // it waited while something was put before it
	}
	s.ts = e.TS
	s.stage.Add(e)
	s.queue = append(s.queue, queued{e, time.Now(), nil})
	if d, ok := e.Data.(event.ToolStart); ok {
		s.calls[d.ToolUseID] = place{e.Turn, e.SubagentID}
		s.unpark(d.ToolUseID, place{e.Turn, e.SubagentID}, nil)
	}
}

// end resolves what is open: nothing follows.
func (s *session) end() {
	if s.ended {
		return
	}
	s.withdraw(func(*asked) bool { return true })
	for id := range s.parked {
		s.unpark(id, place{}, adapters.ErrClosed)
	}
	s.ended = true
}

var errLate = errors.New("the call is over")

func (s *session) unpark(call string, at place, err error) {
	fs := s.parked[call]
	delete(s.parked, call)
	for _, f := range fs {
		f(at, err)
	}
}

// put puts an event between the others.
func (s *session) put(at place, d event.Data, then func()) {
	s.seq++
	s.shift++
	s.ts = s.now()
	e := event.Event{Data: d, TS: s.ts, Seq: s.seq, SessionID: s.id, Turn: at.turn, SubagentID: at.subagent}
	s.stage.Add(e)
	s.queue = append(s.queue, queued{e, time.Now(), then})
}

// now is the time of an event that is put between others: not before the last
// one, and not behind those that already wait for us.
func (s *session) now() time.Time {
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

// do runs f in run's goroutine and waits for its reply.
func (s *session) do(ctx context.Context, f func(reply func(error))) error {
	answer := make(chan error, 1)
	reply := func(err error) { answer <- err } // once
	return loopcall.Do(ctx, s.inbox, s.done, func() { f(reply) }, answer)
}

// perform makes a change of the stage. What an agent's call changes belongs
// where the call is told, behind its tool_start, and perform returns when its
// events were read; anybody else's belongs to the turn that runs.
func (s *session) perform(ctx context.Context, who caller, change func(at place) ([]event.Data, error)) error {
	return s.do(ctx, func(reply func(error)) {
		act := func(at place, err error) {
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
				s.put(at, d, then)
			}
		}
		at, begun := s.calls[who.call]
		switch {
		case s.ended:
			reply(adapters.ErrClosed)
		case !who.agent && len(s.queue) >= maxAhead:
			reply(ErrBacklog)
		case begun:
			act(at, nil)
		case who.call == "":
			act(place{turn: s.turn}, nil)
		default:
			s.parked[who.call] = append(s.parked[who.call], act)
		}
	})
}

// What the tools do.

func (s *session) update(ctx context.Context, who caller, d event.ComponentUpdate) error {
	return s.perform(ctx, who, func(place) ([]event.Data, error) {
		if _, err := s.stage.next(d); err != nil {
			return nil, err
		}
		if d.ComponentID == StateID {
			return nil, errors.New("the state is changed by patches alone")
		}
		d.Props = d.Props.Clone()
		return []event.Data{d}, nil
	})
}

func (s *session) remove(ctx context.Context, who caller, id string) error {
	return s.perform(ctx, who, func(place) ([]event.Data, error) {
		if id == StateID || s.stage.find(id) == nil {
			return nil, nil
		}
		return []event.Data{event.ComponentRemove{ComponentID: id}}, nil
	})
}

func (s *session) change(ctx context.Context, who caller, c Change) (State, error) {
	by := ByUser
	if who.agent {
		by = ByAgent
	}
	var now State
	err := s.perform(ctx, who, func(place) ([]event.Data, error) {
		next, events, err := s.stage.change(c, by)
		now = next
		return events, err
	})
	if err != nil {
		return State{}, err
	}
	return now, nil
}

func (s *session) read(ctx context.Context) (State, error) {
	var now State
	err := s.do(ctx, func(reply func(error)) {
		now = s.stage.State()
		reply(nil)
	})
	if err != nil {
		return State{}, err
	}
	return now, nil
}
