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
	return s.update(ctx, caller{}, d)
}

// Remove implements Session.
func (s *session) Remove(ctx context.Context, id string) error { return s.remove(ctx, caller{}, id) }

// UpdateState implements Session.
func (s *session) UpdateState(ctx context.Context, c Change) (State, error) {
	return s.change(ctx, caller{}, c)
}

// State implements Session.
func (s *session) State(ctx context.Context) (State, error) { return s.read(ctx) }

// Callback implements Session.
func (s *session) Callback(ctx context.Context, messageID string, c Callback) error {
	var name, interrupt string
	err := s.do(ctx, func(reply func(error)) {
		for _, id := range []string{c.ComponentID, strings.TrimPrefix(c.ComponentID, "interrupt-")} {
			if k := s.asks[id]; k != nil {
				interrupt, name = id, k.name
			}
		}
		if interrupt == "" {
			name = s.stage.name(c.ComponentID)
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

// Events implements adapters.Session.
func (s *session) Events() <-chan event.Event { return s.out }

// Send implements adapters.Session.
func (s *session) Send(ctx context.Context, m adapters.Message) error { return s.inner.Send(ctx, m) }

// Stop implements adapters.Session.
func (s *session) Stop(ctx context.Context) error { return s.inner.Stop(ctx) }

// Close implements adapters.Session. When the inner session has ended, what is
// left waits for its reader as that one's last events did.
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
			s.giveUp()
		case <-late:
			if s.taken.Load() != last {
				continue
			}
			s.giveUp()
		}
		if stop != nil {
			stop()
		}
		return err
	}
}

// giveUp drops what nobody reads.
func (s *session) giveUp() {
	s.drop.Do(func() { close(s.gone) })
	<-s.done
}

// Backlog implements adapters.Backlogger.
func (s *session) Backlog() (depth int, oldest time.Duration) {
	n := int(s.depth.Load())
	if b, ok := s.inner.(adapters.Backlogger); ok {
		depth, oldest = b.Backlog()
	}
	if n > 0 {
		oldest = max(oldest, time.Since(time.Unix(0, s.oldest.Load())))
	}
	return depth + n, oldest
}

// What the inner session may be able to do.

// Steer implements adapters.Steerer.
func (s *session) Steer(ctx context.Context, m adapters.Message) error {
	if x, ok := s.inner.(adapters.Steerer); ok {
		return x.Steer(ctx, m)
	}
	return adapters.ErrUnsupported
}

// SetModel implements adapters.ModelSetter.
func (s *session) SetModel(ctx context.Context, model string) error {
	if x, ok := s.inner.(adapters.ModelSetter); ok {
		return x.SetModel(ctx, model)
	}
	return adapters.ErrUnsupported
}

// SetMode implements adapters.ModeSetter.
func (s *session) SetMode(ctx context.Context, mode string) error {
	if x, ok := s.inner.(adapters.ModeSetter); ok {
		return x.SetMode(ctx, mode)
	}
	return adapters.ErrUnsupported
}

// Revert implements adapters.Reverter.
func (s *session) Revert(ctx context.Context, messageID string) error {
	if x, ok := s.inner.(adapters.Reverter); ok {
		return x.Revert(ctx, messageID)
	}
	return adapters.ErrUnsupported
}

// Rewind implements adapters.Rewinder.
func (s *session) Rewind(ctx context.Context, messageID string, dry bool) (adapters.Rewound, error) {
	if x, ok := s.inner.(adapters.Rewinder); ok {
		return x.Rewind(ctx, messageID, dry)
	}
	return adapters.Rewound{}, adapters.ErrUnsupported
}

// Compact implements adapters.Compacter.
func (s *session) Compact(ctx context.Context) error {
	if x, ok := s.inner.(adapters.Compacter); ok {
		return x.Compact(ctx)
	}
	return adapters.ErrUnsupported
}

// Archive implements adapters.Archiver.
func (s *session) Archive(ctx context.Context) error {
	if x, ok := s.inner.(adapters.Archiver); ok {
		return x.Archive(ctx)
	}
	return adapters.ErrUnsupported
}

// Rename implements adapters.Renamer.
func (s *session) Rename(ctx context.Context, name string) error {
	if x, ok := s.inner.(adapters.Renamer); ok {
		return x.Rename(ctx, name)
	}
	return adapters.ErrUnsupported
}

// StopTask implements adapters.TaskStopper.
func (s *session) StopTask(ctx context.Context, taskID string) error {
	if x, ok := s.inner.(adapters.TaskStopper); ok {
		return x.StopTask(ctx, taskID)
	}
	return adapters.ErrUnsupported
}

// Withdraw implements adapters.Withdrawer.
func (s *session) Withdraw(ctx context.Context, messageID string) error {
	if x, ok := s.inner.(adapters.Withdrawer); ok {
		return x.Withdraw(ctx, messageID)
	}
	return adapters.ErrUnsupported
}

// StopAll implements adapters.AllStopper.
func (s *session) StopAll(ctx context.Context) error {
	if x, ok := s.inner.(adapters.AllStopper); ok {
		return x.StopAll(ctx)
	}
	return adapters.ErrUnsupported
}
