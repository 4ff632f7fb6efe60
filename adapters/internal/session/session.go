// Package session implements adapters.Session on a child process.
//
// One goroutine (run) owns all state. It receives lines from the reader,
// commands from callers, and timers, and sends events to the listener. While an
// event waits for the listener, no further line is read, so that backpressure
// reaches the wire; commands are still handled. Each runtime's package supplies
// a Protocol. Its methods are called only in that goroutine and must not block.
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
	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Protocol translates a runtime's lines to events and the client's calls to
// lines. All methods are called in one goroutine.
type Protocol interface {
	// Start writes the handshake.
	Start()
	// Line handles one line of stdout. b is valid during the call only.
	Line(b []byte)
	// Send, Steer, Stop and Answer write the request. reply is called once,
	// during the call or later.
	Send(m adapters.Message, reply func(error))
	Steer(m adapters.Message, reply func(error))
	Stop(reply func(error))
	Answer(id string, a adapters.Answer, reply func(error))
	// Ping sends a request that any live runtime answers.
	Ping()
	// Paused reports whether silence is expected, because a tool, a question or
	// an announced retry is open.
	Paused() bool
	// Closing resolves what is open before stdin is closed.
	Closing()
}

// Starter is a Protocol that reports whether a turn was requested and has not
// begun. Stop and the idle timer then apply to that turn too.
type Starter interface{ Starting() bool }

// Ender is a Protocol that releases what it holds when the session has ended. No other method is called after Ended.
type Ender interface{ Ended() }

// Setter is a Protocol that can change the model and the mode. reply is called
// once.
type Setter interface {
	SetModel(model string, reply func(error))
	SetMode(mode string, reply func(error))
}

// Host is the session as a Protocol sees it.
type Host interface {
	// Ledger returns the ledger of the session.
	Ledger() *ledger.Ledger
	// Write queues a line for the runtime's stdin and adds the line end.
	Write(line []byte)
	// After calls f in the session's goroutine after d, unless cancelled.
	After(d time.Duration, f func()) (cancel func())
	// Ready ends the opening; nil if session_ready was emitted.
	Ready(err error)
	// Limits returns the session's limits.
	Limits() adapters.Limits
	// LimitStop limits the running turn as Stop does, for a turn that the adapter stops by
	// itself: if it does not end within Limits.Stop, the session fails.
	LimitStop()
	// Go runs work in its own goroutine and calls the returned function in the
	// session's goroutine, unless the session has ended. cancel cancels work's
	// context; the returned function is then not called.
	Go(work func(ctx context.Context) (then func())) (cancel func())
}

// maxAhead bounds the events that are read ahead of the listener while a caller
// waits for a reply. Reading must go on because that caller may be the
// listener.
const maxAhead = 1024

// maxUnsent bounds the lines queued for a runtime that does not read.
const maxUnsent = 1024

// Session implements adapters.Session with a Protocol.
type Session struct {
	limits adapters.Limits
	ledger *ledger.Ledger
	proto  Protocol
	proc   proc.Process
	stderr *proc.Tail

	events          chan event.Event
	cmds            chan func()
	lines           chan line
	lineHandled     chan struct{} // the reader may read the next line
	exit            chan proc.Exit
	eof             chan struct{} // stdout was read to its end
	processExited   chan struct{}
	done            chan struct{} // run has returned
	listenerDropped chan struct{} // the listener is given up
	ready           chan error

	pending         []pending           // events for the listener, oldest first
	pendingBuf      [8]pending          // backs pending while it is short; mostly one event waits
	readySent       bool                // Ready was called
	waiting         map[int]func(error) // callers that wait for a reply
	waitSeq         int
	timers          map[int]*timer
	timerSeq        int
	fired           chan int
	closing         bool
	failure         *event.Error // why the adapter ends the process
	failureReported bool         // the failure was reported by a turn, or as an error of one that never began
	lastLineAt      time.Time    // when the last line arrived, or silence stopped being expected
	pingedAt        time.Time    // when Ping was last called
	cancelIdleTimer func()
	cancelStopLimit func()
	stoppingTurn    int  // the turn that must stop
	stoppingAll     bool // waiting messages are cancelled too

	out          *writer
	depth        atomic.Int64
	oldest       atomic.Int64
	received     atomic.Int64 // events received by the listener
	readingSince atomic.Int64 // when the reader began to wait for the runtime; 0 if it does not wait
	endOnce      sync.Once
	dropOnce     sync.Once
	ending       sync.WaitGroup
	workers      sync.WaitGroup // goroutines of Go
	workCtx      context.Context
	cancelWork   context.CancelFunc
}

type pending struct {
	e  event.Event
	at time.Time
}

type timer struct {
	*time.Timer
	f func()
}

type line struct {
	at  time.Time
	b   []byte
	err error
}

// Open starts the process and returns when the protocol calls Ready. build
// creates the protocol; it must not call the host's methods yet.
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
		limits: o.Limits.WithDefaults(), proc: p, stderr: proc.NewTail(64 << 10), out: newWriter(p.Stdin()),
		events: make(chan event.Event), cmds: make(chan func()),
		lines: make(chan line), lineHandled: make(chan struct{}), exit: make(chan proc.Exit, 1),
		eof: make(chan struct{}), processExited: make(chan struct{}), waiting: map[int]func(error){},
		done: make(chan struct{}), listenerDropped: make(chan struct{}), ready: make(chan error, 1),
		timers: map[int]*timer{}, fired: make(chan int),
	}
	s.pending = s.pendingBuf[:0]
	s.ledger = ledger.New(hint, o.After, func(e event.Event) {
		s.pending = append(s.pending, pending{e, time.Now()})
	})
	s.workCtx, s.cancelWork = context.WithCancel(context.Background())
	s.proto = build(s)
	var readers sync.WaitGroup
	readers.Add(2)
	go func() { defer readers.Done(); s.readLines() }()
	go func() { defer readers.Done(); _, _ = io.Copy(s.stderr, p.Stderr()) }()
	go s.out.writeLoop()
	go s.awaitExit(&readers)
	go s.run()
	select {
	case err = <-s.ready:
	case <-ctx.Done():
		err = &adapters.OpenError{Code: event.ErrorTimeout, Op: "handshake", Err: ctx.Err()}
	}
	if err != nil {
		s.dropListener()
		<-s.done
		s.endProcess()
		s.ending.Wait()
		s.workers.Wait()
		var oe *adapters.OpenError
		if errors.As(err, &oe) && oe.Stderr == "" {
			oe.Stderr = s.stderr.String()
		}
		return nil, err
	}
	return s, nil
}

// readLines passes lines to run one at a time, because the buffer is reused
// after a line is handled.
func (s *Session) readLines() {
	defer close(s.eof)
	r := linereader.NewReader(s.proc.Stdout(), s.limits.Line)
	defer r.Release()
	for {
		s.readingSince.Store(time.Now().UnixNano())
		b, err := r.Next()
		s.readingSince.Store(0)
		if err != nil && !errors.Is(err, linereader.ErrTooLong) {
			return
		}
		s.lines <- line{time.Now(), b, err}
		<-s.lineHandled
	}
}

// awaitExit reports the exit to run after the pipes are read to the end. A
// descendant may keep the pipes open, so they are closed if the runtime wrote
// nothing for Limits.Term. Time spent waiting for the listener does not count.
func (s *Session) awaitExit(readers *sync.WaitGroup) {
	exit := s.proc.Wait()
	close(s.processExited)
	drained := make(chan struct{})
	go func() { readers.Wait(); close(drained) }()
	wait, open := s.limits.Term, true
	for open {
		t := time.NewTimer(wait)
		select {
		case <-drained:
			open = false
		case <-t.C:
			since, ended := s.readingSince.Load(), false
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
	s.exit <- exit
}

// run owns the state. It returns when the process has exited and every event
// was received or discarded.
func (s *Session) run() {
	defer close(s.done)
	if e, ok := s.proto.(Ender); ok {
		defer e.Ended()
	}
	defer s.cancelWork()
	defer close(s.events)
	defer func() {
		for _, t := range s.timers {
			t.Stop()
		}
	}()
	s.ledger.SetTime(time.Now())
	s.After(s.limits.Handshake, func() {
		if !s.readySent {
			s.Ready(&adapters.OpenError{Code: event.ErrorTimeout, Op: "handshake", Stderr: s.stderr.String(),
				Err: fmt.Errorf("no answer within %v", s.limits.Handshake)})
		}
	})
	s.lastLineAt = time.Now()
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
				s.replyToAll(nil)
			}
			s.depth.Store(int64(len(s.pending)))
			s.oldest.Store(s.pending[0].at.UnixNano())
		} else {
			s.depth.Store(0)
		}
		select {
		case out <- head:
			s.received.Add(1)
			s.pending[0] = pending{}
			s.pending = s.pending[1:]
			if len(s.pending) == 0 {
				s.pending = s.pendingBuf[:0] // release the grown array
			}
		case ln := <-lines:
			s.lastLineAt = ln.at
			s.ledger.SetTime(ln.at)
			switch {
			case s.failure != nil: // ignored: the session has failed
			case ln.err != nil:
				s.ledger.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeLongLine,
					Text: fmt.Sprintf("a line of more than %d bytes was skipped; it began %.80q", s.limits.Line, ln.b)})
			default:
				s.proto.Line(ln.b)
			}
			s.updateTimers()
			s.lineHandled <- struct{}{}
		case f := <-s.cmds:
			s.ledger.SetTime(time.Now())
			f()
			s.updateTimers()
		case id := <-s.fired:
			if t := s.timers[id]; t != nil {
				delete(s.timers, id)
				s.ledger.SetTime(time.Now())
				t.f()
				s.updateTimers()
			}
		case <-eof:
			// A runtime that closed its stdout can send nothing more, so it is
			// ended like one that crashed.
			eof = nil
			s.After(s.limits.CloseStdin, func() {
				if !s.closing && !gone {
					s.failSession(event.Error{Code: event.ErrorCrash, Message: "the runtime closed its stdout but did not exit"})
				}
			})
		case exit := <-s.exit:
			gone = true
			s.ledger.SetTime(time.Now())
			s.handleExit(exit)
		case <-s.listenerDropped:
			s.ledger.SetTime(time.Now())
			s.closeByClient()
			s.pending = nil
			s.drainWithoutListener(gone)
			return
		}
	}
}

// drainWithoutListener handles lines and commands without a listener until the
// process has exited.
func (s *Session) drainWithoutListener(gone bool) {
	for !gone {
		select {
		case <-s.lines:
			s.lineHandled <- struct{}{}
		case f := <-s.cmds:
			f()
		case <-s.fired: // no limit applies any more, because the process is being ended
		case exit := <-s.exit:
			gone = true
			s.handleExit(exit)
		}
		s.pending = nil
	}
}

// handleExit emits the last events and closes what is open.
func (s *Session) handleExit(exit proc.Exit) {
	s.replyToAll(adapters.ErrClosed)
	var code *int
	if exit.Signal == "" {
		code = &exit.Code
	}
	if !s.readySent {
		s.Ready(&adapters.OpenError{Code: event.ErrorStartFailure, Op: "handshake", Stderr: s.stderr.String(), Exit: code,
			Err: fmt.Errorf("the runtime exited before it was ready: %v", exit)})
	}
	d := event.SessionEnd{Reason: "exited", ExitCode: code}
	err := s.failure
	switch {
	case err != nil:
		d.Reason = string(err.Code)
	case s.closing:
		d.Reason = "closed"
	default:
		if exit.Code != 0 {
			d.Reason = "crashed"
		}
		msg := "the runtime exited during a turn: " + exit.String()
		if tail := s.stderr.String(); tail != "" {
			msg += "\nstderr: " + tail
		}
		err = &event.Error{Code: event.ErrorCrash, Message: msg}
	}
	if err != nil && s.readySent && s.ledger.Turn() == nil && s.starting() && !s.failureReported {
		s.ledger.Session(*err) // a message was sent and no turn began
	}
	s.ledger.SessionEnd(err, d)
}
