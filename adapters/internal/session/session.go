// Package session implements adapters.Session on a child process.
//
// A lock guards all state. The goroutine that reads stdout handles each line under
// it, and so do callers their commands and timers their functions. Events go to the
// listener through an outbox of bounded size, which is flushed when the lines that were
// read together are handled. While the outbox is full no further line is handled, so
// that backpressure reaches the wire; commands are still handled. Each runtime's package
// supplies a Protocol. Its methods are called only under the lock and must not block.
package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
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
// lines. All methods are called under the session's lock.
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

// Commander is a Protocol with commands, such as a compaction, that begin a turn without a message.
// CommandStarting reports whether one was requested whose turn has not begun. Stop then applies to
// that turn.
type Commander interface{ CommandStarting() bool }

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
	// After calls f under the session's lock after d, unless cancelled.
	After(d time.Duration, f func()) (cancel func())
	// Ready ends the opening; nil if session_ready was emitted.
	Ready(err error)
	// Limits returns the session's limits.
	Limits() adapters.Limits
	// LimitStop limits the running turn as Stop does, for a turn that the adapter stops by
	// itself: if it does not end within Limits.Stop, the session fails.
	LimitStop()
	// Go runs work in its own goroutine and calls the returned function under the
	// session's lock, unless the session has ended. cancel cancels work's context; the
	// returned function is then not called.
	Go(work func(ctx context.Context) (then func())) (cancel func())
}

// maxUnsent bounds the lines queued for a runtime that does not read.
const maxUnsent = 1024

// Session implements adapters.Session with a Protocol.
type Session struct {
	limits adapters.Limits
	proc   proc.Process
	stderr *proc.Tail
	out    *writer
	ready  chan error

	eof           chan struct{} // stdout was read to its end
	outputEnded   bool          // stdout has ended; read and set with the lock held
	processExited chan struct{}
	done          chan struct{} // the session has ended, and the ring has its last event
	readingSince  atomic.Int64  // when the reader began to wait for the runtime; 0 if it does not wait

	lock            sync.Mutex // guards what follows, ledger and proto too
	ledger          *ledger.Ledger
	proto           Protocol
	outbox          *outbox
	readySent       bool                // Ready was called
	waiting         map[int]func(error) // callers that wait for a reply
	waitSeq         int
	timers          map[int]*time.Timer
	timerSeq        int
	closing         bool
	exited          bool         // the exit was handled
	finished        bool         // nothing may follow
	failure         *event.Error // why the adapter ends the process
	failureReported bool         // the failure was reported by a turn, or as an error of one that never began
	lastLineAt      time.Time    // when the last line arrived, or silence stopped being expected
	pingedAt        time.Time    // when Ping was last called
	cancelIdleTimer func()
	cancelStopLimit func()
	stoppingTurn    int  // the turn that must stop
	stoppingAll     bool // waiting messages are cancelled too

	endOnce    sync.Once
	ending     sync.WaitGroup
	workers    sync.WaitGroup // goroutines of Go
	workCtx    context.Context
	cancelWork context.CancelFunc
}

// InvalidOptions returns the error of an open whose options the adapter cannot honour.
func InvalidOptions(err error) error {
	return &adapters.OpenError{Code: event.ErrorInvalid, Op: "options", Err: err}
}

// CheckMode returns an error if a mode is none of these. The name "" is that of the runtime's
// own default.
func CheckMode[V any](mode string, modes map[string]V) error {
	if _, ok := modes[mode]; ok {
		return nil
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(modes)), func(name string) bool { return name == "" })
	return fmt.Errorf("mode: %q: %w: want one of %s", mode, adapters.ErrUnsupported, strings.Join(names, ", "))
}

// Open starts the process and returns when the protocol calls Ready. build
// creates the protocol; it must not call the host's methods yet.
func Open[P Protocol](ctx context.Context, o adapters.Options, c proc.Command, hint event.SessionReady, build func(Host) P) (*Session, P, error) {
	var p P
	s, err := open(ctx, o, c, hint, func(h Host) Protocol {
		p = build(h)
		return p
	})
	return s, p, err
}

func open(ctx context.Context, o adapters.Options, c proc.Command, hint event.SessionReady, build func(Host) Protocol) (*Session, error) {
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
		eof: make(chan struct{}), processExited: make(chan struct{}), done: make(chan struct{}), ready: make(chan error, 1),
		waiting: map[int]func(error){}, timers: map[int]*time.Timer{},
	}
	s.outbox = newOutbox(&s.lock, sessionLimits)
	hint.Cwd = cmp.Or(hint.Cwd, o.Dir)
	s.ledger = ledger.New(hint, o.After, s.outbox.add)
	s.ledger.StreamInputs, s.ledger.Media = o.StreamToolInput, o.Media
	s.workCtx, s.cancelWork = context.WithCancel(context.Background())
	s.proto = build(s)
	var readers sync.WaitGroup
	readers.Add(2)
	go func() { defer readers.Done(); _, _ = io.Copy(s.stderr, p.Stderr()) }()
	go s.out.writeLoop()
	s.withLock(s.startHandshake)
	go func() { defer readers.Done(); s.readLines() }()
	go s.awaitExit(&readers)
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

// withLock calls f with the lock held and flushes the events that f emits.
func (s *Session) withLock(f func()) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.ledger.SetTime(time.Now())
	f()
	if !s.exited {
		s.updateTimers()
	}
	s.outbox.flush()
}

// startHandshake writes the handshake and limits its time.
func (s *Session) startHandshake() {
	s.After(s.limits.Handshake, func() {
		switch {
		case s.readySent:
		case s.outputEnded:
			s.failSession(errOutputEnded)
		default:
			s.Ready(&adapters.OpenError{Code: event.ErrorTimeout, Op: "handshake", Stderr: s.stderr.String(),
				Err: fmt.Errorf("no answer within %v", s.limits.Handshake)})
		}
	})
	s.lastLineAt = time.Now()
	s.proto.Start()
}

// readLines handles the lines of stdout. A runtime that closed its stdout can send
// nothing more, so it is ended like one that crashed.
func (s *Session) readLines() {
	defer close(s.eof)
	r := linereader.NewReader(s.proc.Stdout(), s.limits.Line)
	defer r.Release()
	for {
		s.readingSince.Store(time.Now().UnixNano())
		b, err := r.Next()
		s.readingSince.Store(0)
		if err != nil && !errors.Is(err, linereader.ErrTooLong) {
			break
		}
		s.handleLines(r, b, err)
	}
	s.withLock(func() {
		s.outputEnded = true
		s.After(s.limits.CloseStdin, func() {
			if !s.closing && !s.exited {
				s.failSession(errOutputEnded)
			}
		})
	})
}

var errOutputEnded = event.Error{Code: event.ErrorCrash, Message: "the runtime closed its stdout but did not exit"}

// maxBatch bounds the lines that are handled before their events are flushed, and so
// for how long a caller may wait for the lock.
const maxBatch = 64

// handleLines handles a line and those that were read together with it.
func (s *Session) handleLines(r *linereader.Reader, b []byte, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	at := time.Now() // of all of them, unless handling them took time
	for n := 1; ; n++ {
		waited := s.waitForRoom()
		if !s.outbox.dropped {
			s.handleLine(at, b, err)
		}
		if waited {
			at = time.Now()
		}
		if n == maxBatch {
			break
		}
		var ok bool
		if b, ok = r.NextBuffered(); !ok {
			break
		}
		err = nil
	}
	s.outbox.flush()
}

// waitForRoom returns when a line may be handled: the listener has received enough, or a
// caller waits for a reply, which may be the listener. That caller gets its reply when
// too many events wait. waitForRoom reports whether it waited.
func (s *Session) waitForRoom() (waited bool) {
	for s.outbox.full {
		if len(s.waiting) > 0 {
			if s.outbox.depth() < s.outbox.limits.ahead {
				return waited
			}
			s.replyToAll(nil)
		}
		s.outbox.changed.Wait()
		waited = true
	}
	return waited
}

func (s *Session) handleLine(at time.Time, b []byte, err error) {
	s.lastLineAt = at
	s.ledger.SetTime(at)
	switch {
	case s.failure != nil: // ignored: the session has failed
	case err != nil:
		s.ledger.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeLongLine,
			Text: fmt.Sprintf("a line of more than %d bytes was skipped; it began %.80q", s.limits.Line, b)})
		if p, ok := s.proto.(Skipper); ok {
			p.Skipped(headOf(b))
		}
	default:
		s.proto.Line(b)
	}
	s.updateTimers()
}

// awaitExit handles the exit after the pipes are read to the end. A
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
	s.withLock(func() { s.handleExit(exit) })
	s.finish()
}

// finish returns when the ring has taken every event, or they were discarded.
func (s *Session) finish() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.outbox.finish()
	s.finished = true
	for _, t := range s.timers {
		t.Stop()
	}
	if e, ok := s.proto.(Ender); ok {
		e.Ended()
	}
	s.cancelWork()
	close(s.done)
}

// handleExit emits the last events and closes what is open.
func (s *Session) handleExit(exit proc.Exit) {
	s.exited = true
	s.replyToAll(adapters.ErrClosed)
	var code *int
	if exit.Signal == "" {
		code = &exit.Code
	}
	if !s.readySent {
		s.Ready(&adapters.OpenError{Code: event.ErrorStartFailure, Op: "handshake", Stderr: s.stderr.String(), Exit: code,
			Err: fmt.Errorf("the runtime exited before it was ready: %v", exit)})
	}
	lost := s.ledger.Turn() == nil && (s.starting() || s.ledger.Queued()) // a message that no turn took
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
		if lost {
			msg = "the runtime exited before a turn took the message: " + exit.String()
		}
		if tail := s.stderr.String(); tail != "" {
			msg += "\nstderr: " + tail
		}
		err = &event.Error{Code: event.ErrorCrash, Message: msg}
	}
	if err != nil && lost && !s.failureReported {
		s.ledger.Session(*err)
	}
	s.ledger.SessionEnd(err, d)
}
