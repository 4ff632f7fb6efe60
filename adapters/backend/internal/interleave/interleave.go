// Package interleave inserts events between those of a session.
package interleave

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

// ErrCallEnded is the error of AtCall if the call ended before its tool_start.
var ErrCallEnded = errors.New("the call has ended")

// Hooks are functions that a Session calls in its goroutine. Any may be nil.
type Hooks struct {
	Before func(e event.Event) // an event of the inner session, before it is queued: what is inserted precedes it
	Added  func(e event.Event) // each event, of the inner session or inserted, with its final seq
	End    func()              // once, before session_end, or when the stream ends without one
}

// Place is the turn and the sub-agent of an event.
type Place struct {
	Turn     int
	Subagent string
}

// Session is a session between whose events others are inserted. One goroutine owns the
// order of events; Do sends functions to it. The methods without a context may be called
// in that goroutine only.
type Session struct {
	inner adapters.Session
	hooks Hooks
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
	queue  []queued
	seq    int64 // of the last event
	shift  int64 // the number of inserted events
	id     string
	ts     time.Time
	turn   int                             // the running one, or 0
	calls  map[string]Place                // running tools by their id
	parked map[string][]func(Place, error) // changes that wait for a tool_start
	ended  bool                            // no event may follow
}

// queued is an unread event. forwardEvents calls then after it was read.
type queued struct {
	e    event.Event
	at   time.Time
	then func()
}

// New returns a session for the options with which the inner one is opened. Call Start
// when it is open.
func New(o adapters.Options, hooks Hooks) *Session {
	s := &Session{
		limit: o.Limits.WithDefaults().Term, hooks: hooks, seq: o.After.Seq,
		out: make(chan event.Event), inbox: make(chan func()), done: make(chan struct{}), gone: make(chan struct{}),
		calls: map[string]Place{}, parked: map[string][]func(Place, error){},
	}
	s.taken.Store(time.Now().UnixNano())
	return s
}

// Start begins to forward the events of the inner session.
func (s *Session) Start(inner adapters.Session) {
	s.inner = inner
	go s.forwardEvents()
}

// forwardEvents forwards events until the inner session has ended.
func (s *Session) forwardEvents() {
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
			s.endStream()
			return
		}
	}
	s.depth.Store(0)
}

// forward queues an event of the inner session.
func (s *Session) forward(e event.Event) {
	s.id = e.SessionID
	if s.hooks.Before != nil {
		s.hooks.Before(e)
	}
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.turn = e.Turn
	case event.ToolResult:
		delete(s.calls, d.ToolUseID)
		s.unpark(d.ToolUseID, Place{}, ErrCallEnded)
	case event.Done, event.Error:
		if e.SubagentID != "" {
			break
		}
		for id := range s.parked {
			s.unpark(id, Place{}, ErrCallEnded)
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
	s.add(e, nil)
	if d, ok := e.Data.(event.ToolStart); ok {
		at := Place{e.Turn, e.SubagentID}
		s.calls[d.ToolUseID] = at
		s.unpark(d.ToolUseID, at, nil)
	}
}

// endStream calls the hook and rejects waiting changes, because no event may follow.
func (s *Session) endStream() {
	if s.ended {
		return
	}
	if s.hooks.End != nil {
		s.hooks.End()
	}
	for id := range s.parked {
		s.unpark(id, Place{}, adapters.ErrClosed)
	}
	s.ended = true
}

func (s *Session) unpark(call string, at Place, err error) {
	fs := s.parked[call]
	delete(s.parked, call)
	for _, f := range fs {
		f(at, err)
	}
}

func (s *Session) add(e event.Event, then func()) {
	if s.hooks.Added != nil {
		s.hooks.Added(e)
	}
	s.queue = append(s.queue, queued{e, time.Now(), then})
}

// Insert queues an event. The session calls then, unless it is nil, after the event was
// read. An event after the end of the session is dropped.
func (s *Session) Insert(at Place, d event.Data, then func()) {
	if s.ended {
		return
	}
	s.seq++
	s.shift++
	s.ts = s.insertTime()
	s.add(event.Event{Data: d, TS: s.ts, Seq: s.seq, SessionID: s.id, Turn: at.Turn, SubagentID: at.Subagent}, then)
}

// insertTime returns the ts of an inserted event: not before the last event, and not
// after the inner session's events that are already waiting.
func (s *Session) insertTime() time.Time {
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

// AtCall calls f when the tool_start of a call was queued, or with an error if the
// stream passes the end of the call or the session without one.
func (s *Session) AtCall(call string, f func(Place, error)) {
	at, begun := s.calls[call]
	switch {
	case s.ended:
		f(Place{}, adapters.ErrClosed)
	case begun:
		f(at, nil)
	default:
		s.parked[call] = append(s.parked[call], f)
	}
}

// Turn returns the running turn, or 0.
func (s *Session) Turn() int { return s.turn }

// LastSeq returns the seq of the last event.
func (s *Session) LastSeq() int64 { return s.seq }

// Unread returns how many events wait for the reader.
func (s *Session) Unread() int { return len(s.queue) }

// Ended reports whether no event may follow.
func (s *Session) Ended() bool { return s.ended }

// Do calls f in the goroutine that owns the order of events, and returns what f
// replies. f, or a function that it left there, calls reply once.
func (s *Session) Do(ctx context.Context, f func(reply func(error))) error {
	answer := make(chan error, 1)
	reply := func(err error) { answer <- err } // once
	return loopcall.Do(ctx, s.inbox, s.done, func() { f(reply) }, answer)
}

// Done returns a channel that is closed when the stream has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Unwrap returns the inner session, for adapters.As. Of the optional abilities this
// session implements only Backlogger.
func (s *Session) Unwrap() adapters.Session { return s.inner }

// Events implements adapters.Session.
func (s *Session) Events() <-chan event.Event { return s.out }

// Send implements adapters.Session.
func (s *Session) Send(ctx context.Context, m adapters.Message) error { return s.inner.Send(ctx, m) }

// Stop implements adapters.Session.
func (s *Session) Stop(ctx context.Context) error { return s.inner.Stop(ctx) }

// Answer implements adapters.Session.
func (s *Session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	return s.inner.Answer(ctx, id, a)
}

// Close implements adapters.Session. After the inner session has ended, the queued
// events wait for their reader under the same rules.
func (s *Session) Close(ctx context.Context) error {
	err := s.inner.Close(ctx)
	for {
		var late <-chan time.Time
		var stop func() bool
		last := s.taken.Load()
		if ctx.Done() == nil {
			t := time.NewTimer(time.Until(time.Unix(0, last).Add(s.limit)))
			late, stop = t.C, t.Stop
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			s.dropUnread()
		case <-late:
			if s.taken.Load() != last {
				continue
			}
			s.dropUnread()
		}
		if stop != nil {
			stop()
		}
		return err
	}
}

// dropUnread drops the events that are not read.
func (s *Session) dropUnread() {
	s.drop.Do(func() { close(s.gone) })
	<-s.done
}

// Backlog implements adapters.Backlogger.
func (s *Session) Backlog() (depth int, oldest time.Duration) {
	n := int(s.depth.Load())
	if b, ok := adapters.As[adapters.Backlogger](s.inner); ok {
		depth, oldest = b.Backlog()
	}
	if n > 0 {
		oldest = max(oldest, time.Since(time.Unix(0, s.oldest.Load())))
	}
	return depth + n, oldest
}
