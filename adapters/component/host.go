package component

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// Show implements Session.
func (s *session) Show(ctx context.Context, d event.ComponentUpdate) error {
	return s.updateComponent(ctx, caller{}, d)
}

// Remove implements Session.
func (s *session) Remove(ctx context.Context, id string) error {
	return s.removeComponent(ctx, caller{}, id)
}

// UpdateState implements Session.
func (s *session) UpdateState(ctx context.Context, c Change) (State, error) {
	return s.changeState(ctx, caller{}, c)
}

// State implements Session.
func (s *session) State(ctx context.Context) (State, error) { return s.readState(ctx) }

// Callback implements Session.
func (s *session) Callback(ctx context.Context, messageID string, c Callback) error {
	var name, interrupt string
	err := s.inRun(ctx, func(reply func(error)) {
		for _, id := range []string{c.ComponentID, strings.TrimPrefix(c.ComponentID, "interrupt-")} {
			if k := s.interrupts[id]; k != nil {
				interrupt, name = id, k.name
			}
		}
		if interrupt == "" {
			name = s.stage.componentName(c.ComponentID)
		}
		if name == "" {
			reply(fmt.Errorf("component %q is not shown: %w", c.ComponentID, adapters.ErrUnknownID))
			return
		}
		reply(s.stage.reg.CheckAction(name, c.Action, c.Payload))
	})
	if err != nil {
		return err
	}
	if interrupt != "" {
		a, err := c.Answer()
		if err != nil {
			return err
		}
		return s.Answer(ctx, interrupt, a)
	}
	m, err := c.Message(messageID)
	if err != nil {
		return err
	}
	return s.inner.Send(ctx, m)
}

// Unwrap returns the inner session, for adapters.As. Of the optional abilities this
// session implements only Backlogger.
func (s *session) Unwrap() adapters.Session { return s.inner }

// Events implements adapters.Session.
func (s *session) Events() <-chan event.Event { return s.out }

// Send implements adapters.Session.
func (s *session) Send(ctx context.Context, m adapters.Message) error { return s.inner.Send(ctx, m) }

// Stop implements adapters.Session.
func (s *session) Stop(ctx context.Context) error { return s.inner.Stop(ctx) }

// Close implements adapters.Session. After the inner session has ended, the queued
// events wait for their reader under the same rules.
func (s *session) Close(ctx context.Context) error {
	err := s.inner.Close(ctx)
	for {
		var late <-chan time.Time
		var stop func() bool
		last := s.taken.Load()
		if ctx.Done() == nil {
			t := time.NewTimer(time.Until(time.Unix(0, last).Add(s.limit)))
			late, stop = t.C, t.Stop
		}
		select {
		case <-s.done:
		case <-ctx.Done():
			s.dropUnread()
		case <-late:
			if s.taken.Load() != last {
				continue
			}
			s.dropUnread()
		}
		if stop != nil {
			stop()
		}
		return err
	}
}

// dropUnread drops the events that are not read.
func (s *session) dropUnread() {
	s.drop.Do(func() { close(s.gone) })
	<-s.done
}

// Backlog implements adapters.Backlogger.
func (s *session) Backlog() (depth int, oldest time.Duration) {
	n := int(s.depth.Load())
	if b, ok := adapters.As[adapters.Backlogger](s.inner); ok {
		depth, oldest = b.Backlog()
	}
	if n > 0 {
		oldest = max(oldest, time.Since(time.Unix(0, s.oldest.Load())))
	}
	return depth + n, oldest
}
