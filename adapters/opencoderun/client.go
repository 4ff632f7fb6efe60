package opencoderun

import (
	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/internal/turnproc"
	"github.com/turnspec/turnspec/adapters/proc"
)

// client is the live side. It implements session.Protocol.
type client struct {
	turnproc.Client
	t      *translator
	gaveUp string // why the adapter ends its turn
}

func newClient(h session.Host, o adapters.Options, ps *turnproc.Processes, files *turnproc.Files) *client {
	c := &client{}
	c.Client = turnproc.NewClient(h, o, ps, files, c)
	c.t = newTranslator(h.Ledger(), o, c)
	return c
}

// Start implements session.Protocol.
func (c *client) Start() {
	c.t.ready.RuntimeVersion = c.Processes.Version()
	c.Host.Ready(nil)
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) {
	if e, ok := c.Processes.Ending(b); ok {
		c.processEnded(e)
		return
	}
	c.t.handleLine(b)
}

// CheckMode implements turnproc.Runtime.
func (c *client) CheckMode(mode string) error { return session.CheckMode(mode, modes) }

// Started implements turnproc.Runtime.
func (c *client) Started() { c.t.processStarted() }

// Begun implements turnproc.Runtime.
func (c *client) Begun() bool { return c.t.begun }

// processEnded handles the end of a process. It ends the turn if that has not ended, and the
// session too if the turn was not stopped: the process has failed.
func (c *client) processEnded(e turnproc.Ended) {
	m, stopping := c.TakeEnded()
	gaveUp := c.gaveUp
	c.gaveUp = ""
	switch l := c.t.l; {
	case l.Turn() == nil && c.t.begun:
	case gaveUp != "":
		l.Error(event.Error{Code: event.ErrorNetwork, Message: gaveUp})
	case stopping:
		c.t.beginTurn(m) // it may have ended before
		l.Done(event.Done{Stopped: true})
	case c.t.rejected && e.Exit == proc.Exit{}:
		l.Done(event.Done{}) // a call that is not allowed ends the turn
	default:
		c.Crash(m, e)
		return
	}
	c.Next(m)
}

// giveUp ends a turn that would not end by itself.
func (c *client) giveUp(why string) {
	if c.Stopping() || c.gaveUp != "" {
		return
	}
	c.gaveUp = why
	c.Host.LimitStop()
	c.Terminate()
}

// Paused implements session.Protocol. A tool that runs has no line, so that silence within a step
// proves nothing. Between two steps no tool runs: the runtime waits for its model, which it asks
// again without an end and without a line.
func (c *client) Paused() bool { return c.t.inStep }

var (
	_ session.Protocol   = (*client)(nil)
	_ session.Starter    = (*client)(nil)
	_ session.Setter     = (*client)(nil)
	_ session.Withdrawer = (*client)(nil)
	_ session.AllStopper = (*client)(nil)
)
