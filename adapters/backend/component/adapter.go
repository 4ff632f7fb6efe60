package component

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Session is the type of the sessions that an Adapter opens. Its methods may be called
// from any goroutine, including the one that reads Events: they return when the
// change is made, not when its events are read.
type Session interface {
	adapters.Session
	// Show shows a component, or changes the one with this id.
	Show(ctx context.Context, d event.ComponentUpdate) error
	// Remove removes a component. It is no error if there is none with this id.
	Remove(ctx context.Context, id string) error
	// UpdateState changes the shared state on behalf of the user and returns the
	// new one. The agent receives it when it reads the state, or with a conflict.
	UpdateState(ctx context.Context, c Change) (State, error)
	// State returns the shared state.
	State(ctx context.Context) (State, error)
	// Callback forwards the user's action in a shown component to the agent. If
	// the component is that of an open interrupt (its id is the interrupt_id, with
	// or without the prefix "interrupt-"), it uses Answer, else Send with this
	// message id.
	Callback(ctx context.Context, messageID string, c Callback) error
}

// Option changes what an Adapter does.
type Option func(*adapter)

// WithHistory supplies the stored events of a resumed session, so that the shown
// components and the state can be changed further. Without it a resumed session
// begins with an empty stage.
func WithHistory(events func(ctx context.Context, o adapters.Options) ([]event.Event, error)) Option {
	return func(a *adapter) { a.history = events }
}

// Adapter wraps another adapter so that its agents can show the components of a
// registry. It adds the tools of Registry.Tools to those of Options.Tools and inserts
// their events into the stream. Open fails with adapters.ErrUnsupported if the inner
// adapter has no client tools. The sessions are of type Session; adapters.As finds
// the abilities of the inner ones.
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

// Wrap is Adapter for the registry of a Definition in JSON.
func Wrap(inner adapters.Adapter, definition event.Raw) (adapters.Adapter, error) {
	reg, err := Parse(definition)
	if err != nil {
		return nil, err
	}
	return Adapter(inner, reg), nil
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
	if !a.Capabilities().Can.Names("tools") {
		return nil, refuse(adapters.ErrUnsupported)
	}
	for _, t := range o.Tools {
		if adapters.IsComponentTool(t.Name) {
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
	s.Start(inner)
	return s, nil
}
