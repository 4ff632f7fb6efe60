package conformance

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Subject is an adapter under test.
type Subject interface {
	// Name is shown in reports.
	Name() string
	// Runtime is whose wire it speaks: codex or claude.
	Runtime() string
	// Open starts the runtime through o.Launch and returns when the session is
	// ready for a message. A failure is, or wraps, an *adapters.OpenError.
	Open(ctx context.Context, o Open) (Session, error)
}

// Open says what the subject is to open.
type Open struct {
	Launch  proc.Launcher  // starts the runtime (or its stand-in)
	Command []string       // the program to start; nil: the subject's usual one
	Args    []string       // further arguments for it
	Env     []string       // its whole environment; nil: the parent's
	Dir     string         // the working directory
	Model   string         // "" is the runtime's default
	Ask     bool           // tools ask for permission; false: nothing is asked
	Resume  string         // the provider_session_id to go on with
	After   event.Position // where the stream left off before a resume
}

// Session is one conversation. Events is read all the time, from another
// goroutine than the acts; it is closed after Close. What a runtime has no way
// to do (steer, answer a question) fails with adapters.ErrUnsupported.
type Session interface {
	Send(ctx context.Context, id, text string) error
	Steer(ctx context.Context, id, text string) error
	Answer(ctx context.Context, requestID string, a Answer) error
	Stop(ctx context.Context) error
	Close(ctx context.Context) error
	Events() <-chan event.Event
}

// Answer is a scenario's answer: a decision, or JSON for a question.
type Answer struct {
	Decision event.Decision
	Value    jsontext.Value
}

// Adapter makes a Subject of an adapter of this module's interface.
func Adapter(name string, a adapters.Adapter) Subject { return &adapterSubject{name, a} }

type adapterSubject struct {
	name    string
	adapter adapters.Adapter
}

func (s *adapterSubject) Name() string    { return s.name }
func (s *adapterSubject) Runtime() string { return s.adapter.Capabilities().Runtime }

func (s *adapterSubject) Open(ctx context.Context, o Open) (Session, error) {
	mode := "never"
	if o.Ask {
		mode = "ask"
	}
	sess, err := s.adapter.Open(ctx, adapters.Options{
		SessionID: "s1", Resume: o.Resume, After: o.After, Dir: o.Dir, Model: o.Model, Mode: mode,
		Command: o.Command, Args: o.Args, Env: o.Env, Launch: o.Launch,
	})
	if err != nil {
		return nil, err
	}
	return adapterSession{sess}, nil
}

type adapterSession struct{ s adapters.Session }

func (s adapterSession) Events() <-chan event.Event { return s.s.Events() }

func (s adapterSession) Send(ctx context.Context, id, text string) error {
	return s.s.Send(ctx, adapters.Message{ID: id, Text: text})
}

func (s adapterSession) Steer(ctx context.Context, id, text string) error {
	st, ok := s.s.(adapters.Steerer)
	if !ok {
		return adapters.ErrUnsupported
	}
	return st.Steer(ctx, adapters.Message{ID: id, Text: text})
}

func (s adapterSession) Answer(ctx context.Context, id string, a Answer) error {
	return s.s.Answer(ctx, id, adapters.Answer{Decision: a.Decision, Value: a.Value})
}

func (s adapterSession) Stop(ctx context.Context) error  { return s.s.Stop(ctx) }
func (s adapterSession) Close(ctx context.Context) error { return s.s.Close(ctx) }
