// Package session answers one question: how does a session live on a process?
//
// One goroutine (run) owns all state: it takes lines from the reader, commands
// from the caller and timers, and hands events to the listener. While an event
// waits for the listener no further line is read, so that backpressure reaches
// the wire; commands are served all the same. A runtime's package brings a
// Protocol, which is called in that goroutine only and never blocks.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Protocol is what a runtime's package knows: how its lines become events and
// the client's acts become lines. All methods are called in one goroutine.
type Protocol interface {
	// Start writes the handshake.
	Start()
	// Line handles one line of stdout; b is valid during the call only.
	Line(b []byte)
	// Send, Steer, Stop and Answer write what the act needs. reply is called
	// once, then or later, and may be called with nil.
	Send(m adapters.Message, reply func(error))
	Steer(m adapters.Message, reply func(error))
	Stop(reply func(error))
	Answer(id string, a adapters.Answer, reply func(error))
	// Ping asks the runtime for a sign of life.
	Ping()
	// Paused reports whether silence is expected: a tool, a question or an
	// announced retry is open.
	Paused() bool
	// Closing answers what is still open, before stdin is closed.
	Closing()
}

// Starter is a Protocol that tells when a turn was asked for and has not begun:
// Stop and the watch for silence hold for it too.
type Starter interface{ Starting() bool }

// Setter is a Protocol that can change model and mode. reply is called once.
type Setter interface {
	SetModel(model string, reply func(error))
	SetMode(mode string, reply func(error))
}

// Host is what a Protocol may ask of the session that it lives in.
type Host interface {
	// Ledger keeps the books.
	Ledger() *ledger.Ledger
	// Write queues a line for the runtime's stdin; the line end is added.
	Write(line []byte)
	// After calls f in the session's goroutine after d, unless cancelled.
	After(d time.Duration, f func()) (cancel func())
	// Ready says how the opening ended; nil: session_ready was emitted.
	Ready(err error)
	// Limits are the session's.
	Limits() adapters.Limits
	// Go runs work in a goroutine of its own; what it returns is called in the
	// session's goroutine, unless the session has ended. cancel ends work's ctx
	// and with it the interest in what it returns.
	Go(work func(ctx context.Context) (then func())) (cancel func())
}

// maxAhead bounds the events that are read ahead of the listener while a caller
// waits for the runtime's reply: the caller may be the listener.
const maxAhead = 1024

// maxUnsent bounds the lines that wait for a runtime that does not read.
const maxUnsent = 1024

// Session implements adapters.Session on a Protocol.
type Session struct {
	limits adapters.Limits
	ledger *ledger.Ledger
	proto  Protocol
	proc   proc.Process
	stderr *proc.Tail

	events  chan event.Event
	cmds    chan func()
	lines   chan line
	next    chan struct{} // the reader may read on
	gone    chan proc.Exit
	eof     chan struct{} // stdout was read to its end
	dead    chan struct{} // the process has ended
	done    chan struct{} // run has returned
	discard chan struct{} // the listener is given up
	ready   chan error

	pending  []pending           // events for the listener, oldest first
	room     [8]pending          // of pending, as long as it is short: one event waits most of the time
	readyErr bool                // ready has been told
	waiting  map[int]func(error) // callers that wait for a reply
	waitSeq  int
	timers   map[int]*time.Timer
	timerSeq int
	fired    chan int
	timerFns map[int]func()
	closing  bool
	fail     *event.Error // why the process is being ended by us
	failTold bool         // a turn has ended in it, or never began: what waits behind needs no second error
	heard    time.Time    // when the last line came
	pinged   time.Time    // when the runtime was asked for a sign of life
	unwatch  func()       // cancels the watch for silence
	stopping func()       // cancels the stop limit
	stopped  int          // the turn that it is for
	stopsAll bool         // what is being stopped is all that waits, too

	out      writer
	depth    atomic.Int64
	oldest   atomic.Int64
	taken    atomic.Int64 // events that the listener took
	reading  atomic.Int64 // since when the reader waits for the runtime; 0: it does not
	endOnce  sync.Once
	dropOnce sync.Once
	ender    sync.WaitGroup
	works    sync.WaitGroup // of Go
	workCtx  context.Context
	workEnd  context.CancelFunc
}

type pending struct {
	e  event.Event
	at time.Time
}

type line struct {
	at  time.Time
	b   []byte
	err error
}

// Open starts the process and returns when the protocol says that the session
// is ready. make builds the protocol; it must not call the host's methods yet.
func Open(ctx context.Context, o adapters.Options, c proc.Command, hint event.SessionReady, build func(Host) Protocol) (*Session, error) {
	launch := o.Launch
	if launch == nil {
		launch = proc.Exec{}
	}
	p, err := launch.Launch(ctx, c)
	if err != nil {
		return nil, &adapters.OpenError{Code: event.ErrorStartFailure, Op: "start", Err: err}
	}
	s := &Session{
		limits: o.Limits.WithDefaults(), proc: p, stderr: proc.NewTail(64 << 10),
		events: make(chan event.Event), cmds: make(chan func()),
		lines: make(chan line), next: make(chan struct{}), gone: make(chan proc.Exit, 1),
		eof: make(chan struct{}), dead: make(chan struct{}), waiting: map[int]func(error){},
		done: make(chan struct{}), discard: make(chan struct{}), ready: make(chan error, 1),
		timers: map[int]*time.Timer{}, timerFns: map[int]func(){}, fired: make(chan int),
	}
	s.pending = s.room[:0]
	s.ledger = ledger.New(hint, o.After, func(e event.Event) {
		s.pending = append(s.pending, pending{e, time.Now()})
	})
	s.workCtx, s.workEnd = context.WithCancel(context.Background())
	s.proto = build(s)
	s.out.init(p.Stdin())
	var readers sync.WaitGroup
	readers.Add(2)
	go func() { defer readers.Done(); s.read() }()
	go func() { defer readers.Done(); _, _ = io.Copy(s.stderr, p.Stderr()) }()
	go s.out.run()
	go s.await(&readers)
	go s.run()
	select {
	case err = <-s.ready:
	case <-ctx.Done():
		err = &adapters.OpenError{Code: event.ErrorTimeout, Op: "handshake", Err: ctx.Err()}
	}
	if err != nil {
		s.drop()
		<-s.done
		s.end()
		s.ender.Wait()
		s.works.Wait()
		var oe *adapters.OpenError
		if errors.As(err, &oe) && oe.Stderr == "" {
			oe.Stderr = s.stderr.String()
		}
		return nil, err
	}
	return s, nil
}

// read hands lines to run, one at a time: the buffer is reused only when the
// line was handled.
func (s *Session) read() {
	defer close(s.eof)
	r := proc.NewLines(s.proc.Stdout(), s.limits.Line)
	defer r.Release()
	for {
		s.reading.Store(time.Now().UnixNano())
		b, err := r.Next()
		s.reading.Store(0)
		if err != nil && !errors.Is(err, proc.ErrLongLine) {
			return
		}
		s.lines <- line{time.Now(), b, err}
		<-s.next
	}
}

// await tells run when the process has ended and its pipes are read to the
// end. A descendant may hold the pipes open: when nothing came for a grace they
// are closed. What the listener is slow to take does not count as nothing.
func (s *Session) await(readers *sync.WaitGroup) {
	exit := s.proc.Wait()
	close(s.dead)
	drained := make(chan struct{})
	go func() { readers.Wait(); close(drained) }()
	wait, open := s.limits.Term, true
	for open {
		t := time.NewTimer(wait)
		select {
		case <-drained:
			open = false
		case <-t.C:
			since, ended := s.reading.Load(), false
			select {
			case <-s.eof:
				ended = true
			default:
			}
			quiet := time.Since(time.Unix(0, since))
			switch {
			case ended, since != 0 && quiet >= s.limits.Term:
				open = false
			case since != 0:
				wait = s.limits.Term - quiet
			default:
				wait = s.limits.Term
			}
		}
		t.Stop()
	}
	for _, r := range []io.Reader{s.proc.Stdout(), s.proc.Stderr()} {
		if c, ok := r.(io.Closer); ok {
			_ = c.Close()
		}
	}
	<-drained
	s.out.stop()
	s.gone <- exit
}

// run owns the state. It ends when the process is gone and every event was
// taken or given up.
func (s *Session) run() {
	defer close(s.done)
	defer s.workEnd()
	defer close(s.events)
	defer s.stopTimers()
	s.ledger.At(time.Now())
	s.After(s.limits.Handshake, func() {
		if !s.readyErr {
			s.Ready(&adapters.OpenError{Code: event.ErrorTimeout, Op: "handshake", Stderr: s.stderr.String(),
				Err: fmt.Errorf("no answer within %v", s.limits.Handshake)})
		}
	})
	s.heard = time.Now()
	s.proto.Start()
	gone, eof := false, s.eof
	for !gone || len(s.pending) > 0 {
		var out chan event.Event
		var head event.Event
		lines := s.lines
		if len(s.pending) > 0 {
			out, head = s.events, s.pending[0].e
			if len(s.waiting) == 0 {
				lines = nil
			} else if len(s.pending) >= maxAhead {
				lines = nil
				s.release(nil)
			}
			s.depth.Store(int64(len(s.pending)))
			s.oldest.Store(s.pending[0].at.UnixNano())
		} else {
			s.depth.Store(0)
		}
		select {
		case out <- head:
			s.taken.Add(1)
			s.pending[0] = pending{}
			s.pending = s.pending[1:]
			if len(s.pending) == 0 {
				s.pending = s.room[:0] // what has grown beyond it is given back
			}
		case ln := <-lines:
			s.heard = ln.at
			s.ledger.At(ln.at)
			switch {
			case s.fail != nil: // given up: what still comes is nobody's
			case ln.err != nil:
				s.ledger.Notice(event.Notice{Level: event.LevelWarning, Code: event.NoticeLongLine,
					Text: fmt.Sprintf("a line of more than %d bytes was skipped; it began %.80q", s.limits.Line, ln.b)})
			default:
				s.proto.Line(ln.b)
			}
			s.follow()
			s.next <- struct{}{}
		case f := <-s.cmds:
			s.ledger.At(time.Now())
			f()
			s.follow()
		case id := <-s.fired:
			if f := s.timerFns[id]; f != nil {
				delete(s.timerFns, id)
				delete(s.timers, id)
				s.ledger.At(time.Now())
				f()
				s.follow()
			}
		case <-eof:
			// A runtime that says no more is as good as dead.
			eof = nil
			s.After(s.limits.CloseStdin, func() {
				if !s.closing && !gone {
					s.giveUp(event.Error{Code: event.ErrorCrash, Message: "the runtime closed its stdout and lives on"})
				}
			})
		case exit := <-s.gone:
			gone = true
			s.ledger.At(time.Now())
			s.exited(exit)
		case <-s.discard:
			s.ledger.At(time.Now())
			s.shut()
			s.pending = nil
			if gone {
				return
			}
			s.discardAll(&gone)
			return
		}
	}
}

// discardAll goes on without a listener until the process is gone.
func (s *Session) discardAll(gone *bool) {
	for !*gone {
		select {
		case <-s.lines:
			s.next <- struct{}{}
		case f := <-s.cmds:
			f()
		case <-s.fired: // no limit matters any more: the process is being ended
		case exit := <-s.gone:
			*gone = true
			s.exited(exit)
		}
		s.pending = nil
	}
	s.pending = nil
}

// exited writes the last events: what was open is closed.
func (s *Session) exited(exit proc.Exit) {
	s.release(adapters.ErrClosed)
	if !s.readyErr {
		var code *int
		if exit.Signal == "" {
			code = &exit.Code
		}
		s.Ready(&adapters.OpenError{Code: event.ErrorStartFailure, Op: "handshake", Stderr: s.stderr.String(), Exit: code,
			Err: fmt.Errorf("the runtime ended before it was ready: %v", exit)})
	}
	d := event.SessionEnd{Reason: "exited"}
	if exit.Signal == "" {
		d.ExitCode = &exit.Code
	}
	err := s.fail
	switch {
	case err != nil:
		d.Reason = string(err.Code)
	case s.closing:
		d.Reason = "closed"
	default:
		if exit.Code != 0 {
			d.Reason = "crashed"
		}
		msg := "the runtime ended in mid-turn: " + exit.String()
		if tail := s.stderr.String(); tail != "" {
			msg += "\nstderr: " + tail
		}
		err = &event.Error{Code: event.ErrorCrash, Message: msg}
	}
	if err != nil && s.readyErr && s.ledger.Turn() == nil && s.starting() && !s.failTold {
		s.ledger.Session(*err) // a message was sent and no turn began
	}
	s.ledger.SessionEnd(err, d)
}
