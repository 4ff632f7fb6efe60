// Package broken answers one question: do the checks catch what they are for?
//
// Each broken adapter is the reference with one mutation of at most 15 lines,
// and names exactly the checks that it fails. A test runs all of them against
// all checks.
package broken

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
)

// Adapter is the reference with one mutation.
type Adapter struct {
	Name     string   // the defect
	Sentence string   // what it does, as a bug report would say it
	Fails    []string // the checks that it fails, all of them, on either runtime
	// Runtime is the one whose wire can show the defect, and Why; "": both.
	Runtime, Why string
	// Only says of a check in Fails which runtime's wire alone shows that it fails:
	// there something follows from the defect that the other does not have.
	Only map[string]string

	mutation
}

// mutation holds the one place where a broken adapter differs.
type mutation struct {
	events   func() func(e event.Event, out func(event.Event))   // what it emits
	relay    func(in <-chan event.Event, out chan<- event.Event) // how it passes them on
	backlog  func() int                                          // what it reports of its backlog
	raw      bool                                                // seq is the mutation's affair
	open     func(o *conformance.Open)
	answer   func(a *adapters.Answer)
	late     func(runtime, id string, w io.Writer)         // an answer that the reference refuses
	written  func(line []byte, w io.Writer) error          // what it writes to the runtime
	read     func(chunk []byte) []byte                     // what it reads from it
	files    func(f []event.Attachment) []event.Attachment // what a message brings
	send     func(ctx context.Context)                     // before a message is sent
	heard    bool                                          // Close returns when all events were taken
	within   func(ctx context.Context) context.Context     // the context that Open and Send go by
	sent     func(err error) error                         // what Send returns
	answered func(err error) error                         // what Answer returns
	stop     func(before int) error                        // instead of stopping, after so many stops, if it is an error
	set      func(mode string) (string, error)             // the mode that it changes to
	closing  func(p proc.Process)                          // before it closes
	away     func(e event.Event, out func(event.Event))    // what it emits from its archive on
	close    func()                                        // when it has closed
	failed   func(err error) error                         // what Open fails with
	able     func(c *adapters.Capabilities)                // what it declares
	// launched stands in for the process.
	launched func(p proc.Process) proc.Process
	// process replaces what it reads.
	process func(p proc.Process) (stdout, stderr io.Reader)
}

// Subject breaks a reference adapter.
func (a Adapter) Subject(reference conformance.Subject) conformance.Subject {
	return &subject{reference, a}
}

type subject struct {
	conformance.Subject
	a Adapter
}

func (s *subject) Name() string { return s.Subject.Name() + " that " + s.a.Sentence }

// Capabilities implements conformance.Declarer.
func (s *subject) Capabilities() adapters.Capabilities {
	var c adapters.Capabilities
	if d, ok := s.Subject.(conformance.Declarer); ok {
		c = d.Capabilities()
	}
	if s.a.able != nil {
		s.a.able(&c)
	}
	return c
}

func (s *subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if s.a.open != nil {
		s.a.open(&o)
	}
	l := &launcher{Launcher: o.Launch, m: s.a.mutation}
	if s.a.written != nil || s.a.read != nil || s.a.closing != nil || s.a.late != nil || s.a.process != nil || s.a.launched != nil {
		o.Launch = l
	}
	if s.a.within != nil {
		ctx = s.a.within(ctx)
	}
	sess, err := s.Subject.Open(ctx, o)
	if err != nil && s.a.failed != nil {
		err = s.a.failed(err)
	}
	if err != nil {
		return nil, err
	}
	b := &session{Session: sess, a: s.a, events: sess.Events(), l: l, runtime: s.Runtime()}
	emit := s.a.events
	if s.a.away != nil {
		emit = b.whenAway
	}
	if s.a.relay != nil {
		out := make(chan event.Event)
		go s.a.relay(sess.Events(), out)
		b.events = out
	}
	if emit != nil {
		out := make(chan event.Event)
		go pump(sess.Events(), out, emit(), o.After.Seq, s.a.raw)
		b.events = out
	}
	if s.a.heard {
		b.events, b.passed = passOn(sess.Events())
	}
	return b, nil
}

// pump passes events through the mutation and numbers them anew, so that a
// mutation shows its own defect only.
func pump(in <-chan event.Event, out chan<- event.Event, f func(event.Event, func(event.Event)), seq int64, raw bool) {
	defer close(out)
	for e := range in {
		f(e, func(e event.Event) {
			if !raw {
				seq++
				e.Seq = seq
			}
			out <- e
		})
	}
}

type session struct {
	adapters.Session
	a       Adapter
	events  <-chan event.Event
	l       *launcher
	stops   int
	runtime string
	put     atomic.Bool   // it was put away
	passed  chan struct{} // where heard is set: all events were taken
}

// Backlog implements adapters.Backlogger where the reference does.
func (s *session) Backlog() (depth int, oldest time.Duration) {
	b, ok := adapters.As[adapters.Backlogger](s.Session)
	if !ok {
		return -1, 0
	}
	depth, oldest = b.Backlog()
	if s.a.backlog != nil {
		depth = s.a.backlog()
	}
	return depth, oldest
}

func (s *session) Events() <-chan event.Event { return s.events }

func (s *session) Send(ctx context.Context, m adapters.Message) error {
	if s.a.files != nil && len(m.Attachments) > 0 {
		m.Attachments = s.a.files(m.Attachments)
	}
	if s.a.send != nil {
		s.a.send(ctx)
	}
	if s.a.within != nil {
		ctx = s.a.within(ctx)
	}
	err := s.Session.Send(ctx, m)
	if s.a.sent != nil {
		err = s.a.sent(err)
	}
	return err
}

func (s *session) Stop(ctx context.Context) error {
	s.stops++
	if s.a.stop != nil {
		if err := s.a.stop(s.stops - 1); err != nil {
			return err
		}
	}
	return s.Session.Stop(ctx)
}

// What not every session can do.

// Archive implements adapters.Archiver where the reference does.
func (s *session) Archive(ctx context.Context) error {
	if x, ok := adapters.As[adapters.Archiver](s.Session); ok {
		s.put.Store(true)
		return x.Archive(ctx)
	}
	return adapters.ErrUnsupported
}

// whenAway is the mutation of what is emitted from the archive on.
func (s *session) whenAway() func(event.Event, func(event.Event)) {
	return func(e event.Event, out func(event.Event)) {
		if s.put.Load() {
			s.a.away(e, out)
			return
		}
		out(e)
	}
}

// Steer implements adapters.Steerer where the reference does.
func (s *session) Steer(ctx context.Context, m adapters.Message) error {
	if st, ok := adapters.As[adapters.Steerer](s.Session); ok {
		return st.Steer(ctx, m)
	}
	return adapters.ErrUnsupported
}

func (s *session) StopAll(ctx context.Context) error {
	if st, ok := adapters.As[adapters.AllStopper](s.Session); ok {
		return st.StopAll(ctx)
	}
	return adapters.ErrUnsupported
}

func (s *session) StopTask(ctx context.Context, id string) error {
	if st, ok := adapters.As[adapters.TaskStopper](s.Session); ok {
		return st.StopTask(ctx, id)
	}
	return adapters.ErrUnsupported
}

func (s *session) Withdraw(ctx context.Context, id string) error {
	if q, ok := adapters.As[adapters.Withdrawer](s.Session); ok {
		return q.Withdraw(ctx, id)
	}
	return adapters.ErrUnsupported
}

func (s *session) Close(ctx context.Context) error {
	if s.a.closing != nil {
		s.a.closing(s.l.last)
	}
	err := s.Session.Close(ctx)
	if s.a.heard {
		<-s.passed
	}
	if s.a.close != nil {
		s.a.close()
	}
	return err
}

func (s *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	if s.a.answer != nil {
		s.a.answer(&a)
	}
	err := s.Session.Answer(ctx, id, a)
	if err != nil && s.a.late != nil {
		s.a.late(s.runtime, id, s.l.last.Stdin())
	}
	if s.a.answered != nil {
		err = s.a.answered(err)
	}
	return err
}

// SetModel implements adapters.ModelSetter where the reference does.
func (s *session) SetModel(ctx context.Context, model string) error {
	if st, ok := adapters.As[adapters.ModelSetter](s.Session); ok {
		return st.SetModel(ctx, model)
	}
	return adapters.ErrUnsupported
}

// SetMode implements adapters.ModeSetter where the reference does.
func (s *session) SetMode(ctx context.Context, mode string) error {
	if s.a.set != nil {
		var err error
		if mode, err = s.a.set(mode); err != nil {
			return err
		}
	}
	if st, ok := adapters.As[adapters.ModeSetter](s.Session); ok {
		return st.SetMode(ctx, mode)
	}
	return adapters.ErrUnsupported
}

// launcher puts the mutation between the adapter and the runtime.
type launcher struct {
	proc.Launcher
	m    mutation
	last proc.Process
}

func (l *launcher) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p, err := l.Launcher.Launch(ctx, c)
	if err != nil {
		return nil, err
	}
	l.last = p
	if l.m.launched != nil {
		return l.m.launched(p), nil
	}
	if l.m.process != nil {
		b := &process{Process: p, m: l.m}
		b.out, b.err = l.m.process(p)
		return b, nil
	}
	return &process{Process: p, m: l.m}, nil
}

type process struct {
	proc.Process
	m        mutation
	out, err io.Reader // nil: the process's own
}

func (p *process) Stderr() io.Reader {
	if p.err != nil {
		return p.err
	}
	return p.Process.Stderr()
}

func (p *process) Stdin() io.WriteCloser {
	if p.m.written == nil {
		return p.Process.Stdin()
	}
	return &stdin{p.Process.Stdin(), p.m.written}
}

func (p *process) Stdout() io.Reader {
	switch {
	case p.out != nil:
		return p.out
	case p.m.read == nil:
		return p.Process.Stdout()
	}
	return &stdout{r: p.Process.Stdout(), f: p.m.read}
}

type stdin struct {
	io.WriteCloser
	f func([]byte, io.Writer) error
}

func (s *stdin) Write(b []byte) (int, error) { return len(b), s.f(b, s.WriteCloser) }

// stdout passes each chunk through f, as one read.
type stdout struct {
	r    io.Reader
	f    func([]byte) []byte
	buf  []byte // of one read; made once, since reads may be of single bytes
	rest []byte
}

func (s *stdout) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		if s.buf == nil {
			s.buf = make([]byte, 64<<10)
		}
		n, err := s.r.Read(s.buf)
		if n == 0 {
			return 0, err
		}
		s.rest = s.f(s.buf[:n])
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *stdout) Close() error {
	if c, ok := s.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
