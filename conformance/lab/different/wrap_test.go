package different

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
)

// Adapter is the reference with one change.
type Adapter struct {
	Name     string
	Sentence string // completes "the reference that"
	// Delays is set if it delays events. It then fails the checks in DelayChecks.
	Delays bool
	// Lacks are the event types and members that its events do not hold, and that it
	// declares as missing.
	Lacks []string

	// Events changes what it emits. It is called once for each session, with the
	// position after which the session continues.
	Events func(after event.Position) func(e event.Event, out func(event.Event))
	// Relay forwards the events. It returns when in is closed and all events are
	// forwarded, or when send returns false because the receiver has gone.
	Relay func(in <-chan event.Event, send func(event.Event) bool)
	Open  func(o *conformance.Open)                          // changes the options of a session
	ID    func(id string) string                             // returns the reference's id for an id of this adapter
	Write func(line []byte, w io.Writer) error               // writes a line to the runtime
	Read  func(r io.Reader) io.Reader                        // reads what the runtime writes
	Call  func(ctx context.Context, call func() error) error // makes each call of a session
	Mode  func(mode string) error                            // refuses a mode, before the reference is called
	// Answer changes the user's answer to a question.
	Answer func(a adapters.Answer) adapters.Answer
}

// DelayChecks are the checks that an adapter fails if it delays events, because they
// measure the delay.
var DelayChecks = []string{"time.first-delta", "time.no-added-delay"}

// Subject changes a reference adapter.
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
	d, _ := s.Subject.(conformance.Declarer) // the references declare
	return d.Capabilities()
}

func (s *subject) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	if s.a.Open != nil {
		s.a.Open(&o)
	}
	if s.a.Write != nil || s.a.Read != nil {
		o.Launch = &launcher{o.Launch, &s.a}
	}
	inner, err := s.Subject.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return newSession(inner, &s.a, o.After), nil
}

type session struct {
	adapters.Session
	a       *Adapter
	events  chan event.Event
	dropped chan struct{} // closed when events are no longer forwarded
	done    chan struct{} // closed when all events are forwarded or dropped
}

func newSession(inner adapters.Session, a *Adapter, after event.Position) adapters.Session {
	s := &session{Session: inner, a: a, events: make(chan event.Event), dropped: make(chan struct{}), done: make(chan struct{})}
	in, seq := inner.Events(), after.Seq
	send := func(e event.Event) bool {
		seq++
		e.Seq = seq
		select {
		case s.events <- e:
			return true
		case <-s.dropped:
			return false
		}
	}
	go func() {
		defer close(s.done)
		defer close(s.events)
		switch {
		case a.Relay != nil:
			a.Relay(in, send)
		case a.Events != nil:
			change := a.Events(after)
			for e := range in {
				change(e, func(e event.Event) { send(e) })
			}
		default:
			for e := range in {
				send(e)
			}
		}
	}()
	if len(a.Lacks) > 0 {
		return &partialSession{s}
	}
	return s
}

// Unwrap lets adapters.As find the abilities that the wrapper does not change.
func (s *session) Unwrap() adapters.Session   { return s.Session }
func (s *session) Events() <-chan event.Event { return s.events }

// do makes a call of the session.
func (s *session) do(ctx context.Context, call func() error) error {
	if s.a.Call != nil {
		return s.a.Call(ctx, call)
	}
	return call()
}

func (s *session) id(id string) string {
	if s.a.ID != nil {
		return s.a.ID(id)
	}
	return id
}

func (s *session) Send(ctx context.Context, m adapters.Message) error {
	return s.do(ctx, func() error { return s.Session.Send(ctx, m) })
}

func (s *session) Stop(ctx context.Context) error {
	return s.do(ctx, func() error { return s.Session.Stop(ctx) })
}

func (s *session) Answer(ctx context.Context, id string, a adapters.Answer) error {
	if s.a.Answer != nil {
		a = s.a.Answer(a)
	}
	return s.do(ctx, func() error { return s.Session.Answer(ctx, s.id(id), a) })
}

func (s *session) StopTask(ctx context.Context, id string) error {
	x, ok := adapters.As[adapters.TaskStopper](s.Session)
	if !ok {
		return adapters.ErrUnsupported
	}
	return s.do(ctx, func() error { return x.StopTask(ctx, s.id(id)) })
}

// SetMode implements adapters.ModeSetter where the reference does.
func (s *session) SetMode(ctx context.Context, mode string) error {
	x, ok := adapters.As[adapters.ModeSetter](s.Session)
	if !ok {
		return adapters.ErrUnsupported
	}
	if s.a.Mode != nil {
		if err := s.a.Mode(mode); err != nil {
			return err
		}
	}
	return s.do(ctx, func() error { return x.SetMode(ctx, mode) })
}

// closeLimit is how long Close waits for a client that receives no events.
const closeLimit = 5 * time.Second

func (s *session) Close(ctx context.Context) error {
	err := s.do(ctx, func() error { return s.Session.Close(ctx) })
	select {
	case <-s.done:
		return err
	case <-ctx.Done():
	case <-time.After(closeLimit):
	}
	select {
	case <-s.dropped:
	default:
		close(s.dropped)
	}
	return err
}

// partialSession is a session whose events do not hold everything.
type partialSession struct{ *session }

// Supports implements conformance.EventSupporter.
func (s *partialSession) Supports(what string) bool { return !slices.Contains(s.a.Lacks, what) }

// launcher puts Write and Read between the adapter and the process.
type launcher struct {
	proc.Launcher
	a *Adapter
}

func (l *launcher) Launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p, err := l.Launcher.Launch(ctx, c)
	if err != nil {
		return nil, err
	}
	return &process{p, l.a}, nil
}

type process struct {
	proc.Process
	a *Adapter
}

func (p *process) Stdin() io.WriteCloser {
	if p.a.Write == nil {
		return p.Process.Stdin()
	}
	return &stdin{p.Process.Stdin(), p.a.Write}
}

func (p *process) Stdout() io.Reader {
	if p.a.Read == nil {
		return p.Process.Stdout()
	}
	return p.a.Read(p.Process.Stdout())
}

type stdin struct {
	io.WriteCloser
	write func([]byte, io.Writer) error
}

func (s *stdin) Write(b []byte) (int, error) { return len(b), s.write(b, s.WriteCloser) }

// prefixed adds a prefix to an id, unless it is empty.
func prefixed(prefix, id string) string {
	if id == "" {
		return ""
	}
	return prefix + id
}

// unprefixed returns a function that removes a prefix.
func unprefixed(prefix string) func(string) string {
	return func(id string) string { return strings.TrimPrefix(id, prefix) }
}
