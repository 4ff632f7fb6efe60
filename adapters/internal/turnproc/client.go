package turnproc

import (
	"fmt"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/proc"
)

// Client starts a process for each message, and queues those that come while one runs. A
// runtime's client embeds it and adds Start, Line, Paused and what a process reports, which
// makes it a session.Protocol. All methods run under the session's lock.
type Client struct {
	Host        session.Host
	Options     adapters.Options
	Processes   *Processes
	Files       *Files
	Model, Mode string // of the next process
	Runtime     Runtime

	running  bool              // a process runs
	message  *adapters.Message // the message that it was started with
	stopping bool              // Stop was called for its turn
	queue    session.Waiting[struct{}]
}

// Runtime is what differs between runtimes.
type Runtime interface {
	CheckMode(mode string) error
	// Arguments returns the command line of the turn of a message, whose text is stdin.
	Arguments(m adapters.Message) []string
	// Started is called when a process is started, and Begun reports whether it has begun
	// its turn.
	Started()
	Begun() bool
}

// NewClient returns a client without a process.
func NewClient(h session.Host, o adapters.Options, ps *Processes, files *Files, rt Runtime) Client {
	return Client{Host: h, Options: o, Processes: ps, Files: files, Model: o.Model, Mode: o.Mode, Runtime: rt}
}

// Message returns the message of the process that runs, nil if none runs.
func (c *Client) Message() *adapters.Message { return c.message }

// Stopping reports whether Stop was called for the turn.
func (c *Client) Stopping() bool { return c.stopping }

// Starting implements session.Starter.
func (c *Client) Starting() bool {
	return c.queue.Len() > 0 || c.running && c.message != nil && !c.Runtime.Begun()
}

// Send implements session.Protocol. The runtime has no queue, so a message waits here for the end
// of the process before it.
func (c *Client) Send(m adapters.Message, reply func(error)) {
	if err := c.queue.Check(); err != nil {
		reply(err)
		return
	}
	if err := c.Files.Attach(&m); err != nil {
		reply(err)
		return
	}
	c.queue.Add(m, struct{}{})
	c.next()
	if c.Host.Ledger().Turn() != nil {
		c.queue.Emit(c.Host.Ledger())
	}
	reply(nil)
}

// next starts a process for the oldest message that waits, if none runs.
func (c *Client) next() {
	if c.running || c.queue.Len() == 0 {
		return
	}
	m := c.queue.Next().Message
	c.running, c.message, c.stopping = true, &m, false
	c.Runtime.Started()
	c.Host.Write(Start{Argv: c.Runtime.Arguments(m), Dir: c.Options.Dir, Env: c.Options.Env, Stdin: m.Text}.Line())
}

// TurnBegan is called when the process has begun its turn.
func (c *Client) TurnBegan() {
	c.queue.Emit(c.Host.Ledger())
	if c.stopping {
		c.Terminate()
	}
}

// Terminate asks the process to exit.
func (c *Client) Terminate() { _ = c.Processes.Signal(proc.SIGTERM) }

// TakeEnded is called first when a process has ended. It returns the message of the process,
// and whether its turn was stopped.
func (c *Client) TakeEnded() (m *adapters.Message, stopping bool) {
	m, stopping = c.message, c.stopping
	c.running, c.message, c.stopping = false, nil, false
	return m, stopping
}

// Retry makes a message the next one.
func (c *Client) Retry(m *adapters.Message) { c.queue.Return(*m, struct{}{}) }

// Next is called last when the process of a message has ended: it starts the next one.
func (c *Client) Next(m *adapters.Message) {
	if !c.queue.Holds(m.ID) {
		c.Files.Release(m.ID)
	}
	c.next()
	c.queue.Emit(c.Host.Ledger())
}

// Crash ends the session, because a process failed without a report. The session's own
// handling of an exit emits the error.
func (c *Client) Crash(m *adapters.Message, e Ended) {
	if e.Failure != "" {
		c.Host.Ledger().Error(event.Error{Code: event.ErrorStartFailure, Message: e.Failure})
	}
	c.running, c.message = true, m // a message has begun no turn
	c.Processes.Finish(e.Exit)
}

// Steer implements session.Protocol. The session has no such method.
func (c *Client) Steer(_ adapters.Message, reply func(error)) { reply(adapters.ErrUnsupported) }

// Answer implements session.Protocol. The runtime asks nothing.
func (c *Client) Answer(_ string, _ adapters.Answer, reply func(error)) {
	reply(adapters.ErrUnsupported)
}

// Stop implements session.Protocol. A process that has not begun its turn is signalled when
// it does: the runtime's id of the session would be unknown otherwise.
func (c *Client) Stop(reply func(error)) {
	begun := c.Runtime.Begun()
	if c.running && !c.stopping && c.message != nil && (!begun || c.Host.Ledger().Turn() != nil) {
		c.stopping = true
		if begun {
			c.Terminate()
		}
	}
	reply(nil)
}

// StopAll implements session.AllStopper.
func (c *Client) StopAll(reply func(error)) {
	for _, id := range c.queue.Clear() {
		c.Files.Release(id)
	}
	c.queue.Emit(c.Host.Ledger())
	c.Stop(reply)
}

// Withdraw implements session.Withdrawer.
func (c *Client) Withdraw(id string, reply func(error)) {
	err := c.queue.Withdraw(id)
	if err == nil {
		c.Files.Release(id)
		c.queue.Emit(c.Host.Ledger())
	}
	reply(err)
}

// SetModel implements session.Setter: the next process has the model.
func (c *Client) SetModel(model string, reply func(error)) {
	c.Model = model
	c.Host.Ledger().Session(event.ModelChanged{Value: model})
	reply(nil)
}

// SetMode implements session.Setter: the next process has the mode.
func (c *Client) SetMode(mode string, reply func(error)) {
	if err := c.Runtime.CheckMode(mode); err != nil {
		reply(fmt.Errorf("set %w", err))
		return
	}
	c.Mode = mode
	c.Host.Ledger().Session(event.ModeChanged{Value: mode})
	reply(nil)
}

// Ping implements session.Protocol. Nothing can be sent to the runtime.
func (c *Client) Ping() {}

// Closing implements session.Protocol.
func (c *Client) Closing() {}
