package codexexec

import (
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/internal/turnproc"
)

// client is the live side. It implements session.Protocol.
type client struct {
	turnproc.Client
	fileArguments []string // that name the files of options
	t             *translator
}

func newClient(h session.Host, o adapters.Options, ps *turnproc.Processes, files *turnproc.Files, fileArguments []string) *client {
	c := &client{fileArguments: fileArguments}
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

// Send implements session.Protocol.
func (c *client) Send(m adapters.Message, reply func(error)) {
	for _, a := range m.Attachments {
		if a.Kind != "image" {
			reply(fmt.Errorf("attachments: only pictures: %w", adapters.ErrUnsupported))
			return
		}
	}
	if strings.TrimSpace(m.Text) == "" { // the program would exit with an error
		reply(fmt.Errorf("send: a message without text: %w", adapters.ErrUnsupported))
		return
	}
	c.Client.Send(m, reply)
}

// CheckMode implements turnproc.Runtime.
func (c *client) CheckMode(mode string) error { return session.CheckMode(mode, sandboxes) }

// Started implements turnproc.Runtime.
func (c *client) Started() { c.t.begun, c.t.opened = false, false }

// Begun implements turnproc.Runtime.
func (c *client) Begun() bool { return c.t.begun }

// processEnded handles the end of a process. It ends the turn if that has not ended, and the
// session too if nobody stopped the turn: the process has failed.
func (c *client) processEnded(e turnproc.Ended) {
	m, stopping := c.TakeEnded()
	l := c.t.l
	switch {
	case l.Turn() == nil && c.t.begun:
	case stopping:
		if l.Turn() == nil { // it ended before its turn began
			c.t.beginTurn(m)
		}
		l.Done(event.Done{Stopped: true})
	case c.t.thread != "" && !c.t.kept && !c.t.opened:
		// The turns of the thread were stopped before the runtime stored it.
		c.t.l.Notice(event.LevelWarning, event.NoticeWarning, fmt.Sprintf("the runtime has not stored the thread %s: the session continues in another one", c.t.thread), nil)
		c.t.thread = ""
		c.Retry(m)
	default:
		c.Crash(m, e)
		return
	}
	c.t.processEnded()
	c.Next(m)
}

// Paused implements session.Protocol. The wire has no deltas, so silence proves nothing while a
// tool or a retry is open.
func (c *client) Paused() bool {
	sc := c.t.l.Turn()
	return c.t.retrying || sc != nil && sc.ToolsOpen() > 0
}

var (
	_ session.Protocol   = (*client)(nil)
	_ session.Starter    = (*client)(nil)
	_ session.Setter     = (*client)(nil)
	_ session.Withdrawer = (*client)(nil)
	_ session.AllStopper = (*client)(nil)
)
