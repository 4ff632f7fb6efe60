// Package broken offers the machinery of broken adapters, which prove that the
// checks catch defects.
//
// A broken adapter is the reference with one mutation of at most 15 lines, and names the
// check that it proves. It is in the folder of that check, such as
// checks/text/once_broken.go. testdata/matrix.txt lists all checks that each fails, with the
// cheapest run in which it does. TestMatrix runs those, and with -update writes the table;
// with TURNSPEC_MATRIX=whole it runs all broken adapters on many scenarios with all faults.
package broken

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// Adapter is the reference with one mutation.
type Adapter struct {
	Name     string // short name of the defect
	Sentence string // the defect as a bug report would describe it
	Proves   string // the check that it proves; Fails returns the others that see the defect
	// Runtime is the only runtime whose wire shows the defect, and Why the reason. Both
	// are "" if all runtimes show it.
	Runtime, Why string

	Mutation
}

// Mutation is how a broken adapter differs from the reference. Most set one field.
type Mutation struct {
	Events  func() func(e event.Event, out func(event.Event))   // changes what it emits
	Relay   func(in <-chan event.Event, out chan<- event.Event) // forwards them in another way
	Depth   func() int                                          // replaces the depth of its backlog
	KeepSeq bool                                                // events are not renumbered
	Open    func(o *conformance.Open)
	Answer  func(a *adapters.Answer)
	// LateAnswer runs after the reference rejected an answer. allow writes an answer that allows
	// what the request with this id asks.
	LateAnswer    func(allow func(id string) []byte, id string, w io.Writer)
	Write         func(line []byte, w io.Writer) error          // writes a line to the runtime
	Read          func(chunk []byte) []byte                     // changes a chunk from the runtime
	Files         func(f []event.Attachment) []event.Attachment // changes the attachments of a message
	BeforeSend    func(ctx context.Context)                     // runs before a message is sent
	WaitForReader bool                                          // Close blocks until the client has received all events
	Context       func(ctx context.Context) context.Context     // changes the context of Open and Send
	SendError     func(err error) error                         // changes what Send returns
	AnswerError   func(err error) error                         // changes what Answer returns
	Stop          func(before int) error                        // returns an error instead of stopping; before counts the earlier stops
	AnswerAfter   time.Duration                                 // allows each permission by itself after this time
	// StopLimit closes stdin this long after a stop, unless the turn ends first. The second
	// stop of a turn replaces the limit of the first, which is then never cancelled.
	StopLimit    time.Duration
	SetMode      func(mode string) (string, error)          // changes the mode to set
	SetModeError func(err error) error                      // changes what SetMode returns
	List         func([]adapters.Listed) []adapters.Listed  // changes a list
	ListError    func(list adapters.List) error             // returns an error in place of a list; nil: the list
	BeforeClose  func(p proc.Process)                       // runs before Close
	AfterArchive func(e event.Event, out func(event.Event)) // changes what it emits after Archive
	AfterClose   func()                                     // runs after Close
	OpenError    func(err error) error                      // changes the error of Open
	Declare      func(c *adapters.Capabilities)             // changes what it declares
	Transcript   func(e event.Event, out func(event.Event)) // changes what it reads from a transcript; without it, it reads none
	// Around replaces Send, Stop, Answer, SetMode and Close. call makes the call of the reference.
	Around func(m Moment, verb fixtures.Verb, call func() error) error
	// Launch replaces the process.
	Launch func(p proc.Process) proc.Process
	// Output replaces the readers of the process.
	Output func(p proc.Process) (stdout, stderr io.Reader)
}

// Moment is what a session does when a call comes.
type Moment struct {
	Waiting  bool          // a message was sent whose turn has not begun
	Turn     bool          // a turn runs
	Stopping bool          // it is being stopped
	AtOnce   fixtures.Verb // the call that was made at the same time; "": none
	Allow    func()        // of Answer: writes a reply that allows what the question asks
}

// Subject breaks a reference adapter.
func (a Adapter) Subject(reference conformance.Subject) conformance.Subject {
	return &subject{reference, a}
}

type subject struct {
	conformance.Subject
	a Adapter
}

// ReadPolicy implements conformance.PolicyReader where the reference does.
func (s *subject) ReadPolicy(policy jsontext.Value) (adapters.Judge, error) {
	if r, ok := s.Subject.(conformance.PolicyReader); ok {
		return r.ReadPolicy(policy)
	}
	return nil, nil
}

func (s *subject) Name() string { return s.Subject.Name() + " that " + s.a.Sentence }

// Capabilities implements conformance.Declarer.
func (s *subject) Capabilities() adapters.Capabilities {
	var c adapters.Capabilities
	if d, ok := s.Subject.(conformance.Declarer); ok {
		c = d.Capabilities()
	}
	if s.a.Declare != nil {
		s.a.Declare(&c)
	}
	return c
}

// Transcribe implements adapters.Transcriber with Mutation.Transcript. The other
// mutations do not apply to a transcript, so without it there is none.
func (s *subject) Transcribe(sessionID string, emit func(event.Event)) adapters.Transcript {
	t, ok := s.Subject.(adapters.Transcriber)
	if !ok || s.a.Transcript == nil {
		return nil
	}
	return t.Transcribe(sessionID, func(e event.Event) { s.a.Transcript(e, emit) })
}

func (s *subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if s.a.Open != nil {
		s.a.Open(&o)
	}
	l := &launcher{Launcher: o.Launch, m: s.a.Mutation}
	if s.a.Write != nil || s.a.Read != nil || s.a.BeforeClose != nil || s.a.LateAnswer != nil || s.a.Output != nil || s.a.Launch != nil || s.a.StopLimit > 0 || s.a.Around != nil {
		o.Launch = l
	}
	if s.a.Context != nil {
		ctx = s.a.Context(ctx)
	}
	sess, err := s.Subject.Open(ctx, o)
	if err != nil && s.a.OpenError != nil {
		err = s.a.OpenError(err)
	}
	if err != nil {
		return nil, err
	}
	b := &session{Session: sess, a: s.a, events: sess.Events(), l: l, runtime: s.Runtime()}
	emit := s.a.Events
	if s.a.AfterArchive != nil {
		emit = b.afterArchive
	}
	if s.a.Relay != nil {
		out := make(chan event.Event)
		go s.a.Relay(sess.Events(), out)
		b.events = out
	}
	if s.a.AnswerAfter > 0 {
		emit = b.answerAfter
	}
	if s.a.StopLimit > 0 {
		emit = b.cancelStopLimit
	}
	if s.a.Around != nil {
		emit = b.moments.follow
	}
	if emit != nil {
		out := make(chan event.Event)
		go pump(sess.Events(), out, emit(), o.After.Seq, s.a.KeepSeq)
		b.events = out
	}
	if s.a.WaitForReader {
		b.events, b.passed = forwardEvents(sess.Events())
	}
	return b, nil
}

// pump passes events through the mutation and renumbers them, so that a mutation
// shows only its own defect.
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
	stops   atomic.Int64
	runtime string
	put     atomic.Bool // it was archived
	running atomic.Bool // with StopLimit: a turn runs
	limit   atomic.Pointer[time.Timer]
	passed  chan struct{} // with WaitForReader: closed when the client has received all events
	moments moments       // with Around
}

// Backlog implements adapters.Backlogger where the reference does.
func (s *session) Backlog() (depth int, oldest time.Duration) {
	b, ok := adapters.As[adapters.Backlogger](s.Session)
	if !ok {
		return -1, 0
	}
	depth, oldest = b.Backlog()
	if s.a.Depth != nil {
		depth = s.a.Depth()
	}
	return depth, oldest
}

func (s *session) Events() <-chan event.Event { return s.events }

// Unwrap lets adapters.As find the abilities that no mutation changes.
func (s *session) Unwrap() adapters.Session { return s.Session }

func (s *session) Send(ctx context.Context, m adapters.Message) error {
	return s.around(fixtures.VerbSend, "", func() error { return s.send(ctx, m) })
}

func (s *session) send(ctx context.Context, m adapters.Message) error {
	if s.a.Files != nil && len(m.Attachments) > 0 {
		m.Attachments = s.a.Files(m.Attachments)
	}
	if s.a.BeforeSend != nil {
		s.a.BeforeSend(ctx)
	}
	if s.a.Context != nil {
		ctx = s.a.Context(ctx)
	}
	err := s.Session.Send(ctx, m)
	if s.a.SendError != nil {
		err = s.a.SendError(err)
	}
	return err
}

func (s *session) Stop(ctx context.Context) error {
	return s.around(fixtures.VerbStop, "", func() error { return s.stop(ctx) })
}

func (s *session) stop(ctx context.Context) error {
	before := s.stops.Add(1) - 1
	if s.a.Stop != nil {
		if err := s.a.Stop(int(before)); err != nil {
			return err
		}
	}
	if s.a.StopLimit > 0 && s.running.Load() {
		s.limit.Store(time.AfterFunc(s.a.StopLimit, func() { _ = s.l.last.Stdin().Close() }))
	}
	return s.Session.Stop(ctx)
}

// Archive implements adapters.Archiver where the reference does.
func (s *session) Archive(ctx context.Context) error {
	if x, ok := adapters.As[adapters.Archiver](s.Session); ok {
		s.put.Store(true)
		return x.Archive(ctx)
	}
	return adapters.ErrUnsupported
}

// afterArchive applies the mutation to events that come after Archive.
func (s *session) afterArchive() func(event.Event, func(event.Event)) {
	return func(e event.Event, out func(event.Event)) {
		if s.put.Load() {
			s.a.AfterArchive(e, out)
			return
		}
		out(e)
	}
}

// cancelStopLimit cancels the last limit of a stop when the turn ends.
func (s *session) cancelStopLimit() func(event.Event, func(event.Event)) {
	return func(e event.Event, out func(event.Event)) {
		if e.SubagentID == "" && e.Turn > 0 {
			s.running.Store(!e.Terminal())
			if t := s.limit.Load(); t != nil && e.Terminal() {
				t.Stop()
			}
		}
		out(e)
	}
}

// answerAfter allows each permission that is still open after the time. The reference
// rejects an answer to one that is not.
func (s *session) answerAfter() func(event.Event, func(event.Event)) {
	return func(e event.Event, out func(event.Event)) {
		if d, ok := e.Data.(event.PermissionRequest); ok {
			time.AfterFunc(s.a.AnswerAfter, func() {
				_ = s.Session.Answer(context.Background(), d.RequestID, adapters.Answer{Decision: event.DecisionAllow})
			})
		}
		out(e)
	}
}

func (s *session) Close(ctx context.Context) error {
	return s.around(fixtures.VerbClose, "", func() error { return s.close(ctx) })
}

func (s *session) close(ctx context.Context) error {
	if s.a.BeforeClose != nil {
		s.a.BeforeClose(s.l.last)
	}
	err := s.Session.Close(ctx)
	if s.a.WaitForReader {
		<-s.passed
	}
	if s.a.AfterClose != nil {
		s.a.AfterClose()
	}
	return err
}

func (s *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	return s.around(fixtures.VerbAnswer, id, func() error { return s.answer(ctx, id, a) })
}

func (s *session) answer(ctx context.Context, id string, a adapters.Answer) error {
	if s.a.Answer != nil {
		s.a.Answer(&a)
	}
	err := s.Session.Answer(ctx, id, a)
	if err != nil && s.a.LateAnswer != nil {
		if rt := runtimes.Find(s.runtime); rt != nil && rt.Replies.Allow != nil {
			s.a.LateAnswer(rt.Replies.Allow, id, s.l.last.Stdin())
		}
	}
	if s.a.AnswerError != nil {
		err = s.a.AnswerError(err)
	}
	return err
}

// SetMode implements adapters.ModeSetter where the reference does.
func (s *session) SetMode(ctx context.Context, mode string) error {
	return s.around(fixtures.VerbSet, "", func() error { return s.setMode(ctx, mode) })
}

func (s *session) setMode(ctx context.Context, mode string) error {
	if s.a.SetMode != nil {
		var err error
		if mode, err = s.a.SetMode(mode); err != nil {
			return err
		}
	}
	if st, ok := adapters.As[adapters.ModeSetter](s.Session); ok {
		err := st.SetMode(ctx, mode)
		if s.a.SetModeError != nil {
			err = s.a.SetModeError(err)
		}
		return err
	}
	return adapters.ErrUnsupported
}

// List implements adapters.Lister where the reference does.
func (s *session) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	x, ok := adapters.As[adapters.Lister](s.Session)
	if !ok {
		return nil, adapters.ErrUnsupported
	}
	if s.a.ListError != nil {
		if err := s.a.ListError(list); err != nil {
			return nil, err
		}
	}
	listed, err := x.List(ctx, list)
	if err == nil && s.a.List != nil {
		listed = s.a.List(listed)
	}
	return listed, err
}

// launcher puts the mutation between the adapter and the process.
type launcher struct {
	proc.Launcher
	m    Mutation
	last proc.Process
}

// DialContext implements proc.Dialer.
func (l *launcher) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if d, ok := l.Launcher.(proc.Dialer); ok {
		return d.DialContext(ctx, network, addr)
	}
	return (&net.Dialer{}).DialContext(ctx, network, addr)
}

func (l *launcher) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p, err := l.Launcher.Launch(ctx, c)
	if err != nil || len(c.Argv) > 0 && strings.HasPrefix(filepath.Base(c.Argv[0]), fixtures.ServerCommand("")) {
		return p, err // an MCP server is no runtime
	}
	l.last = p
	if l.m.Launch != nil {
		return l.m.Launch(p), nil
	}
	if l.m.Output != nil {
		b := &process{Process: p, m: l.m}
		b.out, b.err = l.m.Output(p)
		return b, nil
	}
	return &process{Process: p, m: l.m}, nil
}

type process struct {
	proc.Process
	m        Mutation
	out, err io.Reader // nil: those of the process
}

func (p *process) Stderr() io.Reader {
	if p.err != nil {
		return p.err
	}
	return p.Process.Stderr()
}

func (p *process) Stdin() io.WriteCloser {
	if p.m.Write == nil {
		return p.Process.Stdin()
	}
	return &stdin{p.Process.Stdin(), p.m.Write}
}

func (p *process) Stdout() io.Reader {
	switch {
	case p.out != nil:
		return p.out
	case p.m.Read == nil:
		return p.Process.Stdout()
	}
	return &stdout{r: p.Process.Stdout(), f: p.m.Read}
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
	buf  []byte // of one read; reused, because reads may be of single bytes
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
