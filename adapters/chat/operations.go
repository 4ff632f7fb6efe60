package chat

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// liveSession is a session with the optional abilities of this adapter.
type liveSession struct {
	*session.Session
	c *client
}

var (
	_ adapters.Session     = liveSession{}
	_ adapters.Backlogger  = liveSession{}
	_ adapters.ModelSetter = liveSession{}
	_ adapters.ModeSetter  = liveSession{}
	_ adapters.AllStopper  = liveSession{}
	_ adapters.Withdrawer  = liveSession{}
	_ adapters.Transcriber = Adapter{}
)

// SetModel implements session.Setter. The next request names the model.
func (c *client) SetModel(model string, reply func(error)) {
	if model != c.model {
		c.model = model
		c.t.l.Emit(event.ModelChanged{Value: model})
	}
	reply(nil)
}

// SetMode implements session.Setter. An open question stays open.
func (c *client) SetMode(mode string, reply func(error)) {
	if err := session.CheckMode(mode, modes); err != nil {
		reply(fmt.Errorf("set %w", err))
		return
	}
	if mode != c.mode {
		c.mode = mode
		c.t.l.Emit(event.ModeChanged{Value: mode})
	}
	reply(nil)
}

// StopAll implements adapters.AllStopper. It takes messages back also between two turns.
func (s liveSession) StopAll(ctx context.Context) error {
	err := s.Do(ctx, func(reply func(error)) {
		s.c.queue.Clear()
		s.c.queue.Emit(s.c.t.l)
		s.c.stopWaiting()
		reply(nil)
	})
	if err != nil {
		return err
	}
	return s.Stop(ctx)
}

// Withdraw implements adapters.Withdrawer.
func (s liveSession) Withdraw(ctx context.Context, messageID string) error {
	return s.Do(ctx, func(reply func(error)) {
		err := s.c.queue.Withdraw(messageID)
		if err == nil {
			s.c.queue.Emit(s.c.t.l)
		}
		reply(err)
	})
}

// gaps are what the adapter does without asking the Judge.
var gaps = []adapters.Gap{{
	What:   "*: tools that the server of the model runs by itself",
	Reason: "the adapter offers no such tools, but a server may have been configured with some",
	Remedy: "a server without tools",
}}

// Unenforceable lists what a Judge cannot prevent.
func (Adapter) Unenforceable(string) []adapters.Gap { return slices.Clone(gaps) }

// ControlFiles implements reference.Adapter. The adapter reads no file of a workspace.
func (Adapter) ControlFiles() []string { return nil }
