package claude

import (
	"context"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

var (
	_ adapters.Session    = (*chat)(nil)
	_ adapters.Backlogger = (*chat)(nil)
)

// Send implements adapters.Session.
func (c *chat) Send(ctx context.Context, m adapters.Message) error { return c.s.Send(ctx, m) }

// Events implements adapters.Session.
func (c *chat) Events() <-chan event.Event { return c.s.Events() }

// Stop implements adapters.Session.
func (c *chat) Stop(ctx context.Context) error { return c.s.Stop(ctx) }

// Answer implements adapters.Session.
func (c *chat) Answer(ctx context.Context, id string, a adapters.Answer) error {
	return c.s.Answer(ctx, id, a)
}

// Close implements adapters.Session.
func (c *chat) Close(ctx context.Context) error { return c.s.Close(ctx) }

// Backlog implements adapters.Backlogger.
func (c *chat) Backlog() (depth int, oldest time.Duration) { return c.s.Backlog() }
