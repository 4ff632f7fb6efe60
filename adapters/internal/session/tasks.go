package session

import (
	"context"
	"fmt"

	"github.com/turnspec/turnspec/adapters"
)

// TaskStopper is a Protocol that can end background tasks.
type TaskStopper interface {
	// StopTask is called for a running task.
	StopTask(id string, reply func(error))
}

// Withdrawer is a Protocol that can cancel a waiting message.
type Withdrawer interface {
	Withdraw(id string, reply func(error))
}

// AllStopper is a Protocol that can stop the turn and cancel the waiting
// messages.
type AllStopper interface {
	StopAll(reply func(error))
}

// StopTask implements adapters.TaskStopper.
func (s *Session) StopTask(ctx context.Context, id string) error {
	p, ok := s.proto.(TaskStopper)
	if !ok {
		return adapters.ErrUnsupported
	}
	return s.Do(ctx, func(reply func(error)) {
		if !s.ledger.TaskOpen(id) {
			reply(fmt.Errorf("stop task: %w: %q", adapters.ErrUnknownID, id))
			return
		}
		p.StopTask(id, reply)
	})
}

// Withdraw implements adapters.Withdrawer.
func (s *Session) Withdraw(ctx context.Context, id string) error {
	p, ok := s.proto.(Withdrawer)
	if !ok {
		return adapters.ErrUnsupported
	}
	return s.Do(ctx, func(reply func(error)) { p.Withdraw(id, reply) })
}
