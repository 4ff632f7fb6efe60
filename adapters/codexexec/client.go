package codexexec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/internal/turnproc"
	"github.com/turnspec/turnspec/adapters/proc"
)

// maxQueue bounds the messages that wait for the end of a turn.
const maxQueue = 64

// client is the live side: it starts a process for each message. It implements
// session.Protocol; all methods run under the session's lock.
type client struct {
	host      session.Host
	o         adapters.Options
	processes *turnproc.Processes
	files     *turnproc.Files

	fileArguments []string // that name the files of options

	t *translator

	model, mode string              // of the next process
	running     bool                // a process runs
	message     *adapters.Message   // the message that it was started with
	stopping    bool                // Stop was called for its turn
	queue       []*adapters.Message // messages that wait, oldest first
}

func newClient(h session.Host, o adapters.Options, ps *turnproc.Processes, files *turnproc.Files, fileArguments []string) *client {
	c := &client{host: h, o: o, processes: ps, files: files, fileArguments: fileArguments, model: o.Model, mode: o.Mode}
	c.t = newTranslator(h.Ledger(), o, c)
	return c
}

// Start implements session.Protocol.
func (c *client) Start() {
	c.t.ready.RuntimeVersion = c.processes.Version()
	c.host.Ready(nil)
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) {
	if e, ok := c.processes.Ending(b); ok {
		c.processEnded(e)
		return
	}
	c.t.handleLine(b)
}

// Starting implements session.Starter.
func (c *client) Starting() bool {
	return len(c.queue) > 0 || c.running && c.message != nil && !c.t.begun
}

// Send implements session.Protocol. The runtime has no queue, so a message waits here for the end
// of the process before it.
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
	if len(c.queue) >= maxQueue {
		reply(fmt.Errorf("send: %d messages wait already: %w", maxQueue, adapters.ErrRefused))
		return
	}
	if err := c.files.Attach(&m); err != nil {
		reply(err)
		return
	}
	c.queue = append(c.queue, &m)
	c.next()
	if c.t.l.Turn() != nil {
		c.reportQueue()
	}
	reply(nil)
}

// next starts a process for the oldest message that waits, if none runs.
func (c *client) next() {
	if c.running || len(c.queue) == 0 {
		return
	}
	m := c.queue[0]
	c.queue = c.queue[1:]
	c.running, c.message, c.stopping, c.t.begun, c.t.opened = true, m, false, false, false
	c.host.Write(turnproc.Start{Argv: c.arguments(*m), Dir: c.o.Dir, Env: c.o.Env, Stdin: m.Text}.Line())
}

func (c *client) reportQueue() {
	ids := make([]string, len(c.queue))
	for i, m := range c.queue {
		ids[i] = m.ID
	}
	c.t.l.Queue(ids)
}

// turnBegan is called when the runtime reports the turn of the message.
func (c *client) turnBegan() {
	c.reportQueue()
	if c.stopping {
		_ = c.processes.Signal(proc.SIGTERM)
	}
}

// processEnded handles the end of a process. It ends the turn if that has not ended, and the
// session too if nobody stopped the turn: the process has failed.
func (c *client) processEnded(e turnproc.Ended) {
	m, stopping := c.message, c.stopping
	c.running, c.message, c.stopping = false, nil, false
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
		c.t.notice(event.LevelWarning, event.NoticeWarning, fmt.Sprintf("the runtime has not stored the thread %s: the session continues in another one", c.t.thread), nil)
		c.t.thread = ""
		c.queue = slices.Insert(c.queue, 0, m)
	default:
		c.crash(m, e)
		return
	}
	c.t.processEnded()
	if len(c.queue) == 0 || c.queue[0] != m {
		c.files.Release(m.ID)
	}
	c.next()
	c.reportQueue()
}

// crash ends the session, because a process failed without a report. The session's own
// handling of an exit emits the error.
func (c *client) crash(m *adapters.Message, e turnproc.Ended) {
	if e.Failure != "" {
		c.t.l.Error(event.Error{Code: event.ErrorStartFailure, Message: e.Failure})
	}
	c.running, c.message = true, m // a message has begun no turn
	c.processes.Finish(e.Exit)
}

// Steer implements session.Protocol. The session has no such method.
func (c *client) Steer(_ adapters.Message, reply func(error)) { reply(adapters.ErrUnsupported) }

// Answer implements session.Protocol. The runtime asks nothing.
func (c *client) Answer(_ string, _ adapters.Answer, reply func(error)) {
	reply(adapters.ErrUnsupported)
}

// Stop implements session.Protocol. A process that has not begun its turn is signalled when
// it does: the thread would be unknown otherwise.
func (c *client) Stop(reply func(error)) {
	if c.running && !c.stopping && c.message != nil && !c.t.ended {
		c.stopping = true
		if c.t.begun {
			_ = c.processes.Signal(proc.SIGTERM)
		}
	}
	reply(nil)
}

// StopAll implements session.AllStopper.
func (c *client) StopAll(reply func(error)) {
	for _, m := range c.queue {
		c.files.Release(m.ID)
	}
	c.queue = nil
	c.reportQueue()
	c.Stop(reply)
}

// Withdraw implements session.Withdrawer.
func (c *client) Withdraw(id string, reply func(error)) {
	i := slices.IndexFunc(c.queue, func(m *adapters.Message) bool { return m.ID == id })
	if i < 0 {
		reply(fmt.Errorf("withdraw: %w: %q", adapters.ErrUnknownID, id))
		return
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	c.files.Release(id)
	c.reportQueue()
	reply(nil)
}

// SetModel implements session.Setter: the next process has the model.
func (c *client) SetModel(model string, reply func(error)) {
	c.model = model
	c.t.l.Session(event.ModelChanged{Value: model})
	reply(nil)
}

// SetMode implements session.Setter: the next process has the mode.
func (c *client) SetMode(mode string, reply func(error)) {
	if err := checkMode(mode); err != nil {
		reply(err)
		return
	}
	c.mode = mode
	c.t.l.Session(event.ModeChanged{Value: mode})
	reply(nil)
}

// Ping implements session.Protocol. Nothing can be sent to the runtime.
func (c *client) Ping() {}

// Paused implements session.Protocol. The wire has no deltas, so silence proves nothing while a
// tool or a retry is open.
func (c *client) Paused() bool {
	sc := c.t.l.Turn()
	return c.t.retrying || sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {}

var (
	_ session.Protocol   = (*client)(nil)
	_ session.Starter    = (*client)(nil)
	_ session.Setter     = (*client)(nil)
	_ session.Withdrawer = (*client)(nil)
	_ session.AllStopper = (*client)(nil)
)
