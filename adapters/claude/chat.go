package claude

import (
	"context"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

var (
	_ adapters.Session     = (*chat)(nil)
	_ adapters.Backlogger  = (*chat)(nil)
	_ adapters.ModelSetter = (*chat)(nil)
	_ adapters.ModeSetter  = (*chat)(nil)
	_ adapters.TaskStopper = (*chat)(nil)
	_ adapters.Withdrawer  = (*chat)(nil)
	_ adapters.AllStopper  = (*chat)(nil)
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

// SetModel implements adapters.ModelSetter.
func (c *chat) SetModel(ctx context.Context, model string) error { return c.s.SetModel(ctx, model) }

// SetMode implements adapters.ModeSetter.
func (c *chat) SetMode(ctx context.Context, mode string) error { return c.s.SetMode(ctx, mode) }

// Close implements adapters.Session.
func (c *chat) Close(ctx context.Context) error { return c.s.Close(ctx) }

// Backlog implements adapters.Backlogger.
func (c *chat) Backlog() (depth int, oldest time.Duration) { return c.s.Backlog() }

// StopTask implements adapters.TaskStopper.
func (c *chat) StopTask(ctx context.Context, id string) error { return c.s.StopTask(ctx, id) }

// StopAll implements adapters.AllStopper.
func (c *chat) StopAll(ctx context.Context) error { return c.s.StopAll(ctx) }

// Withdraw implements adapters.Withdrawer.
func (c *chat) Withdraw(ctx context.Context, id string) error { return c.s.Withdraw(ctx, id) }
