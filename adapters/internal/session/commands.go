package session

import (
	"context"
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/loopcall"
)

// Events implements adapters.Session.
func (s *Session) Events() <-chan event.Event { return s.outbox.ring }

// Backlog implements adapters.Backlogger.
func (s *Session) Backlog() (depth int, oldest time.Duration) {
	s.lock.Lock()
	defer s.lock.Unlock()
	n, at := s.outbox.backlog()
	if n == 0 {
		return 0, 0
	}
	return n, time.Since(at)
}

// Do calls f under the session's lock and waits for its reply. Adapters use it for
// operations that only some runtimes support.
func (s *Session) Do(ctx context.Context, f func(reply func(error))) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	answer := make(chan error, 1)
	s.withLock(func() {
		s.waitSeq++
		id := s.waitSeq
		reply := func(err error) {
			delete(s.waiting, id)
			select {
			case answer <- err:
			default:
			}
		}
		s.waiting[id] = reply
		if s.closing || s.failure != nil || s.ledger.Ended() {
			reply(adapters.ErrClosed)
		} else {
			f(reply)
		}
		if len(s.waiting) > 0 {
			s.outbox.changed.Broadcast() // the reader must go on
		}
	})
	return loopcall.Wait(ctx, s.done, answer)
}

// replyToAll replies to every waiting caller: with an error if the session
// ends, or with nil if the request was written and the listener does not
// receive, perhaps because it is the waiting caller.
func (s *Session) replyToAll(err error) {
	for _, reply := range s.waiting {
		reply(err)
	}
}

// Send implements adapters.Session.
func (s *Session) Send(ctx context.Context, m adapters.Message) error {
	if m.ID == "" {
		return fmt.Errorf("send: a message needs an id")
	}
	return s.Do(ctx, func(reply func(error)) { s.proto.Send(m, reply) })
}

// Steer implements adapters.Steerer.
func (s *Session) Steer(ctx context.Context, m adapters.Message) error {
	if m.ID == "" {
		return fmt.Errorf("steer: a message needs an id")
	}
	return s.Do(ctx, func(reply func(error)) {
		if s.ledger.Turn() == nil {
			reply(adapters.ErrNoTurn)
			return
		}
		s.proto.Steer(m, reply)
	})
}

// Stop implements adapters.Session. If the turn does not end within
// Limits.Stop, the turn ends in an error and the process is ended.
func (s *Session) Stop(ctx context.Context) error {
	return s.Do(ctx, func(reply func(error)) {
		if !s.stoppable() || s.cancelStopLimit != nil {
			reply(nil)
			return
		}
		s.startStopLimit()
		s.proto.Stop(reply)
	})
}

// StopAll implements adapters.AllStopper.
func (s *Session) StopAll(ctx context.Context) error {
	p, ok := s.proto.(AllStopper)
	if !ok {
		return adapters.ErrUnsupported
	}
	return s.Do(ctx, func(reply func(error)) {
		if !s.stoppable() || s.cancelStopLimit != nil && s.stoppingAll {
			reply(nil)
			return
		}
		if s.cancelStopLimit == nil {
			s.startStopLimit()
		}
		s.stoppingAll = true
		p.StopAll(reply)
	})
}

// LimitStop implements Host.
func (s *Session) LimitStop() {
	if s.cancelStopLimit == nil {
		s.startStopLimit()
	}
}

// startStopLimit limits the time in which the running or requested turn must
// end.
func (s *Session) startStopLimit() {
	s.stoppingAll = false
	if s.stoppingTurn = s.ledger.Position().Turn; s.ledger.Turn() == nil {
		s.stoppingTurn++
	}
	s.cancelStopLimit = s.After(s.limits.Stop, func() {
		s.cancelStopLimit = nil
		s.failSession(event.Error{Code: event.ErrorTimeout,
			Message: fmt.Sprintf("the turn did not end within %v after Stop", s.limits.Stop)})
	})
}

// Answer implements adapters.Session.
func (s *Session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	if a.By == "" {
		a.By = event.ByUser
	}
	for _, v := range []event.Raw{a.Value, a.Input} {
		if len(v) > 0 && !v.IsValid(lenient.Options) {
			return fmt.Errorf("answer: not JSON: %.80q", v)
		}
	}
	return s.Do(ctx, func(reply func(error)) {
		if _, open := s.ledger.Question(id); !open {
			reply(fmt.Errorf("%w: %q", adapters.ErrUnknownID, id))
			return
		}
		s.proto.Answer(id, a, reply)
	})
}

// SetModel implements adapters.ModelSetter.
func (s *Session) SetModel(ctx context.Context, model string) error {
	return s.applySetting(ctx, "model", model, Setter.SetModel)
}

// SetMode implements adapters.ModeSetter.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	return s.applySetting(ctx, "mode", mode, Setter.SetMode)
}

func (s *Session) applySetting(ctx context.Context, what, value string, set func(Setter, string, func(error))) error {
	p, ok := s.proto.(Setter)
	switch {
	case !ok:
		return adapters.ErrUnsupported
	case value == "":
		return fmt.Errorf("set %s: the value is empty", what)
	}
	return s.Do(ctx, func(reply func(error)) { set(p, value, reply) })
}

// Close implements adapters.Session. If ctx is never done, a listener that
// receives nothing for Limits.Term after the process has ended is given up,
// because the listener may be the caller of Close.
func (s *Session) Close(ctx context.Context) error {
	s.withLock(s.closeByClient)
	s.waitForEnd(ctx)
	s.endProcess() // a process that exited may leave its process group
	s.ending.Wait()
	s.workers.Wait()
	return nil
}

// waitForEnd returns when the session has ended. It gives up the listener if
// necessary.
func (s *Session) waitForEnd(ctx context.Context) {
	if ctx.Done() != nil {
		select {
		case <-s.done:
		case <-ctx.Done():
			s.dropListener()
			<-s.done
		}
		return
	}
	select {
	case <-s.done:
		return
	case <-s.processExited:
	}
	for {
		before := s.outbox.received()
		t := time.NewTimer(s.limits.Term)
		select {
		case <-s.done:
			t.Stop()
			return
		case <-t.C:
			if s.outbox.received() == before {
				s.dropListener()
				<-s.done
				return
			}
		}
	}
}

// dropListener discards the events that the listener has not received, and ends the
// process.
func (s *Session) dropListener() {
	s.withLock(func() {
		s.closeByClient()
		s.outbox.drop()
	})
}
