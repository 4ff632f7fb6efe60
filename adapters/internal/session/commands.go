package session

import (
	"context"
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/post"
)

// Events implements adapters.Session.
func (s *Session) Events() <-chan event.Event { return s.events }

// Backlog implements adapters.Backlogger.
func (s *Session) Backlog() (depth int, oldest time.Duration) {
	n := s.depth.Load()
	if n == 0 {
		return 0, 0
	}
	return int(n), time.Since(time.Unix(0, s.oldest.Load()))
}

// Do runs f in the session's goroutine and waits until it has replied. It is for
// what only some runtimes can do.
func (s *Session) Do(ctx context.Context, f func(reply func(error))) error {
	answer := make(chan error, 1)
	cmd := func() {
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
		if s.closing || s.fail != nil || s.ledger.Ended() {
			reply(adapters.ErrClosed)
		} else {
			f(reply)
		}
	}
	return post.Do(ctx, s.cmds, s.done, cmd, answer)
}

// release answers every caller that waits: with an error because the session
// ends, or with nil because the runtime has been told and the listener is not
// listening, perhaps because it is the caller.
func (s *Session) release(err error) {
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

// Stop implements adapters.Session. The turn that does not end within the limit
// ends in an error, and the process with it.
func (s *Session) Stop(ctx context.Context) error {
	return s.Do(ctx, func(reply func(error)) {
		if s.ledger.Turn() == nil && !s.starting() || s.stopping != nil {
			reply(nil)
			return
		}
		s.limitStop()
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
		if s.ledger.Turn() == nil && !s.starting() || s.stopping != nil && s.stopsAll {
			reply(nil)
			return
		}
		if s.stopping == nil {
			s.limitStop()
		}
		s.stopsAll = true
		p.StopAll(reply)
	})
}

// limitStop begins a stop: the turn that runs, or that was asked for, must end
// within the limit.
func (s *Session) limitStop() {
	s.stopsAll = false
	if s.stopped = s.ledger.Position().Turn; s.ledger.Turn() == nil {
		s.stopped++
	}
	s.stopping = s.After(s.limits.Stop, func() {
		s.stopping = nil
		s.giveUp(event.Error{Code: event.ErrorTimeout,
			Message: fmt.Sprintf("the turn did not end within %v of being stopped", s.limits.Stop)})
	})
}

// Answer implements adapters.Session.
func (s *Session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	if a.By == "" {
		a.By = event.ByUser
	}
	return s.Do(ctx, func(reply func(error)) {
		if _, open := s.ledger.Asked(id); !open {
			reply(fmt.Errorf("%w: %q", adapters.ErrUnknownID, id))
			return
		}
		s.proto.Answer(id, a, reply)
	})
}

// SetModel implements adapters.ModelSetter.
func (s *Session) SetModel(ctx context.Context, model string) error {
	return s.set(ctx, "model", model, Setter.SetModel)
}

// SetMode implements adapters.ModeSetter.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	return s.set(ctx, "mode", mode, Setter.SetMode)
}

func (s *Session) set(ctx context.Context, what, value string, set func(Setter, string, func(error))) error {
	p, ok := s.proto.(Setter)
	switch {
	case !ok:
		return adapters.ErrUnsupported
	case value == "":
		return fmt.Errorf("set %s: missing", what)
	}
	return s.Do(ctx, func(reply func(error)) { set(p, value, reply) })
}

// Close implements adapters.Session. With a ctx that can never be done, a
// listener that takes nothing for Limits.Term after the process has ended is
// taken to be gone: it may be the caller itself.
func (s *Session) Close(ctx context.Context) error {
	select {
	case s.cmds <- s.shut:
	case <-s.done:
	case <-ctx.Done():
		s.drop()
	}
	s.wait(ctx)
	s.end() // a process that ended by itself still has a group to clean up
	s.ender.Wait()
	s.works.Wait()
	return nil
}

// wait returns when run has ended; it gives the listener up when it must.
func (s *Session) wait(ctx context.Context) {
	if ctx.Done() != nil {
		select {
		case <-s.done:
		case <-ctx.Done():
			s.drop()
			<-s.done
		}
		return
	}
	select {
	case <-s.done:
		return
	case <-s.dead:
	}
	for {
		before := s.taken.Load()
		t := time.NewTimer(s.limits.Term)
		select {
		case <-s.done:
			t.Stop()
			return
		case <-t.C:
			if s.taken.Load() == before {
				s.drop()
				<-s.done
				return
			}
		}
	}
}

// drop gives the listener up: what it has not taken is lost.
func (s *Session) drop() { s.dropOnce.Do(func() { close(s.discard) }) }
