package component

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Session is what Open of an Adapter gives, as an adapters.Session. Its methods
// may be called from any goroutine, also from the one that reads Events: they
// return when the change is made, not when its events are read.
type Session interface {
	adapters.Session
	// Show shows a component, or changes the one with this id.
	Show(ctx context.Context, d event.ComponentUpdate) error
	// Remove removes a component. One that is not there is no error.
	Remove(ctx context.Context, id string) error
	// UpdateState changes the shared state in the user's name, and returns it. The
	// agent sees it when it reads the state, or meets a conflict.
	UpdateState(ctx context.Context, c Change) (State, error)
	// State is the shared state.
	State(ctx context.Context) (State, error)
	// Callback tells the agent what a user did in a component that is shown: by
	// Answer if it is that of an open interrupt (by its interrupt_id, or with
	// "interrupt-" in front), else by Send, as a message with this id.
	Callback(ctx context.Context, messageID string, c Callback) error
}

// Option changes what an Adapter does.
type Option func(*adapter)

// WithHistory tells the stored events of a session that is resumed, so that what
// was shown can be changed further and the state goes on. Without it a resumed
// session begins with an empty stage.
func WithHistory(events func(ctx context.Context, o adapters.Options) ([]event.Event, error)) Option {
	return func(a *adapter) { a.history = events }
}

// Adapter lets the agents of another adapter show the components of a registry:
// it offers them the tools of Registry.Tools beside those of Options.Tools, and
// puts the events that come of them into the stream. All else is the inner
// adapter's. Open fails with adapters.ErrUnsupported where that has no tools. The
// sessions are of type Session.
func Adapter(inner adapters.Adapter, reg *Registry, options ...Option) adapters.Adapter {
	a := &adapter{inner: inner, reg: reg}
	for _, o := range options {
		o(a)
	}
	if t, ok := inner.(adapters.Transcriber); ok {
		return struct {
			*adapter
			adapters.Transcriber
		}{a, t}
	}
	return a
}

type adapter struct {
	inner   adapters.Adapter
	reg     *Registry
	history func(context.Context, adapters.Options) ([]event.Event, error)
}

// Capabilities implements adapters.Adapter.
func (a *adapter) Capabilities() adapters.Capabilities { return a.inner.Capabilities() }

// Open implements adapters.Adapter.
func (a *adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	refuse := func(err error) error {
		return &adapters.OpenError{Code: event.ErrorInvalid, Op: "components", Err: err}
	}
	if !a.Capabilities().Tools {
		return nil, refuse(adapters.ErrUnsupported)
	}
	for _, t := range o.Tools {
		if IsTool(t.Name) {
			return nil, refuse(fmt.Errorf("the tool %s is offered twice", t.Name))
		}
	}
	stage := NewStage(a.reg)
	if a.history != nil && o.Resume != "" && !o.Fork {
		events, err := a.history(ctx, o)
		if err != nil {
			return nil, refuse(err)
		}
		for _, e := range events {
			stage.Add(e)
		}
	}
	s := newSession(stage, o)
	o.Tools = append(slices.Clone(o.Tools), a.reg.tools(s)...)
	inner, err := a.inner.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	s.inner = inner
	go s.run()
	return s, nil
}
