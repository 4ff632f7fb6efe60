package session

import (
	"context"
	"errors"
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
	if !s.out.enqueue(line) {
		s.failSession(event.Error{Code: event.ErrorProtocol, Message: "the runtime does not read its stdin"})
	}
}

// After implements Host.
func (s *Session) After(d time.Duration, f func()) (cancel func()) {
	s.timerSeq++
	id := s.timerSeq
	t := time.AfterFunc(d, func() {
		s.withLock(func() {
			if s.timers[id] == nil || s.finished || s.outbox.dropped {
				return // cancelled, or no limit applies any more
			}
			delete(s.timers, id)
			f()
		})
	})
	s.timers[id] = t
	return func() {
		t.Stop()
		delete(s.timers, id)
	}
}

// Go implements Host.
func (s *Session) Go(work func(context.Context) func()) func() {
	ctx, cancel := context.WithCancel(s.workCtx)
	wanted := true // accessed under the lock only
	s.workers.Go(func() {
		defer cancel()
		then := work(ctx)
		s.withLock(func() {
			if wanted && !s.finished {
				then()
			}
		})
	})
	return func() {
		wanted = false
		cancel()
	}
}

// Ready implements Host.
func (s *Session) Ready(err error) {
	if s.readySent {
		return
	}
	s.readySent = true
	s.ready <- err
}

// updateTimers is called after each line and command. It starts the idle timer
// while a turn runs, and stops the stop limit when the turn has ended.
func (s *Session) updateTimers() {
	running := s.ledger.Turn() != nil || s.starting()
	if s.cancelStopLimit != nil && (!s.stoppable() || s.turnEnded(s.stoppingTurn)) {
		s.cancelStopLimit()
		s.cancelStopLimit = nil
	}
	switch {
	case running && s.cancelIdleTimer == nil:
		s.watchIdle(s.limits.Idle)
	case !running && s.cancelIdleTimer != nil:
		s.cancelIdleTimer()
		s.cancelIdleTimer = nil
	}
}

// turnEnded reports whether a turn has ended. Another one may run.
func (s *Session) turnEnded(turn int) bool {
	last := s.ledger.Position().Turn
	return last > turn || last == turn && s.ledger.Turn() == nil
}

// watchIdle pings the runtime if a running turn is silent for Limits.Idle. If
// the runtime does not answer either, the session fails.
func (s *Session) watchIdle(wait time.Duration) {
	s.cancelIdleTimer = s.After(wait, func() {
		s.cancelIdleTimer = nil
		quiet := time.Since(s.lastLineAt)
		switch {
		case s.proto.Paused() || s.outbox.depth() > 0:
			s.lastLineAt = time.Now() // no line was expected until now
			s.watchIdle(s.limits.Idle)
		case s.pingedAt.After(s.lastLineAt):
			s.failSession(event.Error{Code: event.ErrorTimeout, Message: "the runtime is silent and does not answer a ping"})
		case quiet < s.limits.Idle:
			s.watchIdle(s.limits.Idle - quiet)
		default:
			s.pingedAt = time.Now()
			s.proto.Ping()
			s.watchIdle(s.limits.Request)
		}
	})
}

// failSession ends the turn in an error, or reports it if the turn was
// requested and has not begun, and ends the process without waiting. Before the session
// is ready, Open returns the error.
func (s *Session) failSession(err event.Error) {
	if s.failure != nil {
		return
	}
	s.failure = &err
	s.replyToAll(adapters.ErrClosed)
	s.proto.Closing()
	if s.ledger.Turn() != nil || s.readySent && s.starting() {
		s.ledger.Error(err)
		s.failureReported = true
	}
	s.Ready(&adapters.OpenError{Code: err.Code, Op: "handshake", Err: errors.New(err.Message)})
	s.endProcess()
}

// starting reports whether a turn was requested and has not begun.
func (s *Session) starting() bool {
	st, ok := s.proto.(Starter)
	return ok && st.Starting()
}

// stoppable reports whether a turn runs, or was requested by a message or a command and has not
// begun.
func (s *Session) stoppable() bool {
	if s.ledger.Turn() != nil || s.starting() {
		return true
	}
	c, ok := s.proto.(Commander)
	return ok && c.CommandStarting()
}

// closeByClient resolves open questions and ends the process.
func (s *Session) closeByClient() {
	if !s.closing && s.failure == nil && !s.ledger.Ended() {
		s.closing = true
		s.replyToAll(adapters.ErrClosed)
		s.proto.Closing()
	}
	s.endProcess()
}

// endProcess ends the process in the background, once.
func (s *Session) endProcess() {
	s.endOnce.Do(func() {
		s.ending.Go(func() {
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
