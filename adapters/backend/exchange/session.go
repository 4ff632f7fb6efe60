package exchange

import (
	"context"
	"slices"
	"sync"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/internal/interleave"
	"github.com/turnspec/turnspec/adapters/event"
)

// session is a session that sends and receives messages of agents. It inserts the events
// of the exchanges in which it is the sender.
type session struct {
	*interleave.Session
	hub     *Hub
	id      string
	agent   string
	options adapters.Options
	work    sync.WaitGroup // goroutines of its exchanges

	mu       sync.Mutex
	ended    bool
	busy     bool        // a turn runs
	turn     int         // the last one
	cause    *cause      // of the turn that runs, or nil if a user began it
	waiting  []*delivery // messages for this session, in order
	sent     *delivery   // the one whose turn has not begun
	current  []*exchange // whose message the running turn answers
	outgoing []*exchange // open, with this session as the sender

	endMu      sync.Mutex    // taken last: also with another session's mu and an exchange's
	lastQueued chan struct{} // queued of its exchange that ended last, or nil
}

// cause is what led to a turn.
type cause struct {
	parent *exchange // that the turn is to answer, or nil
	chain  *chain
}

// chain counts the exchanges that one message of a user led to.
type chain struct {
	mu sync.Mutex
	n  int
}

// delivery is a message for a session: that of an exchange, or its answer.
type delivery struct {
	id     string
	x      *exchange
	answer bool
	turn   chan struct{} // closed when the message may be sent
	taken  chan struct{} // closed when the session's turn with it has begun, or the session has ended
}

func newDelivery(id string, x *exchange, answer bool) *delivery {
	return &delivery{id: id, x: x, answer: answer, turn: make(chan struct{}), taken: make(chan struct{})}
}

func newSession(h *Hub, agent string, o adapters.Options) *session {
	s := &session{hub: h, id: o.SessionID, agent: agent, options: o}
	s.Session = interleave.New(o, interleave.Hooks{Added: s.observe, End: s.end})
	return s
}

// Close implements adapters.Session.
func (s *session) Close(ctx context.Context) error {
	err := s.Session.Close(ctx)
	ended := make(chan struct{})
	go func() {
		s.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return err
}

// enqueue adds a message for this session. An answer is never refused.
func (s *session) enqueue(d *delivery) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return refuse(CodeClosed, "session %s has ended", s.id)
	case !d.answer && len(s.waiting) >= s.hub.c.MaxQueue:
		return refuse(CodeQueue, "%d messages wait for session %s already", len(s.waiting), s.id)
	}
	s.waiting = append(s.waiting, d)
	s.nextDelivery()
	return nil
}

// nextDelivery lets the next message be sent if the session is free. s.mu is held.
func (s *session) nextDelivery() {
	if s.busy || s.sent != nil || len(s.waiting) == 0 {
		return
	}
	s.sent, s.waiting = s.waiting[0], s.waiting[1:]
	close(s.sent.turn)
}

// withdraw removes a message that will not be sent, or whose turn has not begun. It
// reports whether the message may have been sent.
func (s *session) withdraw(d *delivery) (sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w *delivery) bool { return w == d })
	if s.sent != d {
		return false
	}
	s.sent = nil
	s.nextDelivery()
	return true
}

// answers reports whether the running turn answers an exchange.
func (s *session) answers(x *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.current, x)
}

// observe reads the events of the session. It runs in the goroutine that owns them.
func (s *session) observe(e event.Event) {
	if e.SubagentID != "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch d := e.Data.(type) {
	case event.TurnStart:
		s.busy, s.turn, s.cause = true, e.Turn, nil
		for _, id := range d.MessageIDs {
			s.take(id)
		}
	case event.UserMessage:
		s.take(d.MessageID)
	case event.Done, event.Error:
		if e.Turn != 0 && e.Turn != s.turn {
			return
		}
		for _, x := range s.current {
			x.endAs(outcomeOf(d))
		}
		s.busy, s.current, s.cause = false, nil, nil
		s.nextDelivery()
	default:
		for _, x := range s.current {
			x.observe(e.Data)
		}
	}
}

// outcomeOf returns what the end of the receiver's turn is for an exchange.
func outcomeOf(d event.Data) *Error {
	switch d := d.(type) {
	case event.Error:
		return refuse(CodeFailed, "the turn ended in an error (%s): %s", d.Code, d.Message)
	case event.Done:
		if d.Stopped {
			return refuse(CodeStopped, "the turn was stopped")
		}
	}
	return nil
}

// take notes that the running turn has the message with this id.
func (s *session) take(id string) {
	d := s.sent
	if d == nil || d.id != id {
		return
	}
	s.sent = nil
	close(d.taken)
	if d.answer {
		s.cause = &cause{parent: d.x.parent, chain: d.x.chain}
		return
	}
	s.cause = &cause{parent: d.x, chain: d.x.chain}
	s.current = append(s.current, d.x)
}

// causeOf returns the cause of what the agent does now.
func (s *session) causeOf() *cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil {
		s.cause = &cause{chain: &chain{}}
	}
	return s.cause
}

// end ends the exchanges of a session that ends. It runs in the goroutine that owns the
// events, while events can still be inserted.
func (s *session) end() {
	s.hub.ended(s)
	s.mu.Lock()
	s.ended = true
	outgoing, current, waiting := s.outgoing, s.current, s.waiting
	if s.sent != nil {
		waiting = append([]*delivery{s.sent}, waiting...)
	}
	s.outgoing, s.current, s.waiting, s.sent = nil, nil, nil, nil
	s.mu.Unlock()
	for _, x := range current {
		x.endAs(refuse(CodeClosed, "session %s ended before its turn did", s.id))
	}
	for _, d := range waiting {
		close(d.taken)
		if !d.answer {
			d.x.endAs(refuse(CodeClosed, "session %s ended before it took the message", s.id))
		}
	}
	for _, x := range outgoing {
		x.endAs(refuse(CodeInterrupted, "session %s ended", s.id))
		x.insertEnd()
	}
}

// addOutgoing adds an exchange of which this session is the sender.
func (s *session) addOutgoing(x *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.outgoing = append(s.outgoing, x)
	s.work.Add(1)
	return true
}

// endsNow notes that an exchange of this sender has ended. It returns the queued channel of
// the one that ended before it, or nil.
func (s *session) endsNow(x *exchange) <-chan struct{} {
	s.endMu.Lock()
	defer s.endMu.Unlock()
	last := s.lastQueued
	s.lastQueued = x.queued
	return last
}

func (s *session) removeOutgoing(x *exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outgoing = slices.DeleteFunc(s.outgoing, func(o *exchange) bool { return o == x })
}
