package opencoderun

import (
	"fmt"
	"slices"

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
	t         *translator

	model, mode string              // of the next process
	running     bool                // a process runs
	message     *adapters.Message   // the message that it was started with
	stopping    bool                // Stop was called for its turn
	gaveUp      string              // why the adapter ends its turn
	queue       []*adapters.Message // messages that wait, oldest first
}

func newClient(h session.Host, o adapters.Options, ps *turnproc.Processes, files *turnproc.Files) *client {
	c := &client{host: h, o: o, processes: ps, files: files, model: o.Model, mode: o.Mode}
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
	c.running, c.message, c.stopping = true, m, false
	c.t.processStarted()
	c.host.Write(turnproc.Start{Argv: c.arguments(*m), Dir: c.o.Dir, Env: c.o.Env, Stdin: m.Text}.Line())
}

func (c *client) reportQueue() {
	ids := make([]string, len(c.queue))
	for i, m := range c.queue {
		ids[i] = m.ID
	}
	c.t.l.Queue(ids)
}

// turnBegan is called when the first line of the turn has come.
func (c *client) turnBegan() {
	c.reportQueue()
	if c.stopping {
		_ = c.processes.Signal(proc.SIGTERM)
	}
}

// processEnded handles the end of a process. It ends the turn if that has not ended, and the
// session too if the turn was not stopped: the process has failed.
func (c *client) processEnded(e turnproc.Ended) {
	m, stopping, gaveUp := c.message, c.stopping, c.gaveUp
	c.running, c.message, c.stopping, c.gaveUp = false, nil, false, ""
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
		c.crash(m, e)
		return
	}
	c.files.Release(m.ID)
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

// giveUp ends a turn that would not end by itself.
func (c *client) giveUp(why string) {
	if c.stopping || c.gaveUp != "" {
		return
	}
	c.gaveUp = why
	c.host.LimitStop()
	_ = c.processes.Signal(proc.SIGTERM)
}

// Steer implements session.Protocol. The session has no such method.
func (c *client) Steer(_ adapters.Message, reply func(error)) { reply(adapters.ErrUnsupported) }

// Answer implements session.Protocol. The runtime asks nothing.
func (c *client) Answer(_ string, _ adapters.Answer, reply func(error)) {
	reply(adapters.ErrUnsupported)
}

// Stop implements session.Protocol. A process that has not begun its turn is signalled when
// it does: the session would be unknown otherwise.
func (c *client) Stop(reply func(error)) {
	if c.running && !c.stopping && c.message != nil && (!c.t.begun || c.t.l.Turn() != nil) {
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

// Paused implements session.Protocol. A tool that runs has no line, so that silence within a step
// proves nothing. Between two steps no tool runs: the runtime waits for its model, which it asks
// again without an end and without a line.
func (c *client) Paused() bool { return c.t.inStep }

// Closing implements session.Protocol.
func (c *client) Closing() {}

var (
	_ session.Protocol   = (*client)(nil)
	_ session.Starter    = (*client)(nil)
	_ session.Setter     = (*client)(nil)
	_ session.Withdrawer = (*client)(nil)
	_ session.AllStopper = (*client)(nil)
)
