package component

import (
	"context"
	"fmt"
	"strings"

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
	err := s.Do(ctx, func(reply func(error)) {
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
	return s.Send(ctx, m)
}
