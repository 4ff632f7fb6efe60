package session

import (
	"context"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Ledger implements Host.
func (s *Session) Ledger() *ledger.Ledger { return s.ledger }

// Limits implements Host.
func (s *Session) Limits() adapters.Limits { return s.limits }

// Write implements Host.
func (s *Session) Write(line []byte) {
	if !s.out.put(line) {
		s.giveUp(event.Error{Code: event.ErrorProtocol, Message: "the runtime does not read its stdin"})
	}
}

// After implements Host.
func (s *Session) After(d time.Duration, f func()) (cancel func()) {
	s.timerSeq++
	id := s.timerSeq
	s.timerFns[id] = f
	s.timers[id] = time.AfterFunc(d, func() {
		select {
		case s.fired <- id:
		case <-s.done:
		}
	})
	return func() {
		if t := s.timers[id]; t != nil {
			t.Stop()
			delete(s.timers, id)
			delete(s.timerFns, id)
		}
	}
}

func (s *Session) stopTimers() {
	for _, t := range s.timers {
		t.Stop()
	}
}

// Go implements Host.
func (s *Session) Go(work func(context.Context) func()) func() {
	ctx, cancel := context.WithCancel(s.workCtx)
	wanted := true // belongs to the session's goroutine
	s.works.Go(func() {
		defer cancel()
		then := work(ctx)
		select {
		case s.cmds <- func() {
			if wanted {
				then()
			}
		}:
		case <-ctx.Done():
		}
	})
	return func() {
		wanted = false
		cancel()
	}
}

// Ready implements Host.
func (s *Session) Ready(err error) {
	if s.readyErr {
		return
	}
	s.readyErr = true
	s.ready <- err
}

// follow is called after each line and command: it arms the watch while a turn
// runs, and lifts the stop limit when the turn has ended.
func (s *Session) follow() {
	running := s.ledger.Turn() != nil || s.starting()
	if s.stopping != nil && (!running || s.over(s.stopped)) {
		s.stopping()
		s.stopping = nil
	}
	switch {
	case running && s.unwatch == nil:
		s.watch(s.limits.Idle)
	case !running && s.unwatch != nil:
		s.unwatch()
		s.unwatch = nil
	}
}

// over reports whether a turn has ended; another may run.
func (s *Session) over(turn int) bool {
	last := s.ledger.Position().Turn
	return last > turn || last == turn && s.ledger.Turn() == nil
}

// watch looks after silence: after Idle without a line in a running turn the
// runtime is asked for a sign of life, and only silence to that ends the turn.
func (s *Session) watch(wait time.Duration) {
	s.unwatch = s.After(wait, func() {
		s.unwatch = nil
		quiet := time.Since(s.heard)
		switch {
		case s.proto.Paused() || len(s.pending) > 0:
			s.heard = time.Now() // nothing was to be heard till now
			s.watch(s.limits.Idle)
		case s.pinged.After(s.heard):
			s.giveUp(event.Error{Code: event.ErrorTimeout, Message: "the runtime went silent and does not answer"})
		case quiet < s.limits.Idle:
			s.watch(s.limits.Idle - quiet)
		default:
			s.pinged = time.Now()
			s.proto.Ping()
			s.watch(s.limits.Request)
		}
	})
}

// giveUp ends the turn, also one that was asked for and has not begun, in an error
// at once and then the process: there is no use in waiting for it.
func (s *Session) giveUp(err event.Error) {
	if s.fail != nil {
		return
	}
	s.fail = &err
	s.release(adapters.ErrClosed)
	s.proto.Closing()
	if s.ledger.Turn() != nil || s.readyErr && s.starting() {
		s.ledger.Error(err)
		s.failTold = true
	}
	s.end()
}

// starting reports whether a turn was asked for and has not begun.
func (s *Session) starting() bool {
	st, ok := s.proto.(Starter)
	return ok && st.Starting()
}

// shut is how the client ends the session: open questions are answered, then
// the process is ended.
func (s *Session) shut() {
	if !s.closing && s.fail == nil && !s.ledger.Ended() {
		s.closing = true
		s.release(adapters.ErrClosed)
		s.proto.Closing()
	}
	s.end()
}

// end ends the process in the background, once.
func (s *Session) end() {
	s.endOnce.Do(func() {
		s.ender.Go(func() {
			began := time.Now()
			t := time.NewTimer(s.limits.CloseStdin)
			defer t.Stop()
			select {
			case <-s.out.finish():
			case <-t.C:
			}
			rest := max(0, s.limits.CloseStdin-time.Since(began))
			proc.End(s.proc, proc.Grace{Stdin: rest, Term: s.limits.Term})
		})
	})
}
