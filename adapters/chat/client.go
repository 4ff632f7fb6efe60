package chat

import (
	"fmt"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/proc"
)

// client is the live side: it keeps the history, sends requests and runs the client's tools.
// It implements session.Protocol; all methods run under the session's lock.
type client struct {
	host    session.Host
	o       adapters.Options
	servers proc.Launcher // starts the MCP servers
	model   string
	mode    string
	t       *translator

	tools       []clientTool
	requests    requests
	history     []entry
	queue       session.Waiting[[]part]
	calls       []*call // of the last reply, until all have a result
	rounds      int     // requests of the turn whose calls have results
	cancelRetry func()  // while the next attempt waits
	cancelNext  func()  // while the next message waits after a stop
	ended       bool    // the session ends: nothing more is sent
}

func newClient(h session.Host, o adapters.Options, servers proc.Launcher) *client {
	c := &client{host: h, o: o, servers: servers, model: o.Model, mode: o.Mode}
	c.t = &translator{l: h.Ledger(), live: c, model: o.Model}
	c.requests.write = h.Write
	for _, t := range o.Tools {
		c.tools = append(c.tools, clientTool{t, t.Name})
	}
	return c
}

// Start implements session.Protocol. There is no handshake: the server is asked first with the
// first message. The session is ready when the MCP servers are.
func (c *client) Start() {
	if len(c.o.MCP) == 0 {
		c.serversStarted(nil)
		return
	}
	c.startServers(c.serversStarted)
}

func (c *client) ready() {
	c.host.Ledger().SessionReady(event.SessionReady{Runtime: runtimeName, ProviderSessionID: c.o.SessionID, Model: c.model, Mode: c.mode, Cwd: c.o.Dir})
}

// post sends the history to the model.
func (c *client) post() {
	if c.ended {
		return
	}
	c.requests.post(c.body())
}

// abort cancels the open request and the next attempt.
func (c *client) abort() {
	c.requests.abort()
	if c.cancelRetry != nil {
		c.cancelRetry()
		c.cancelRetry = nil
	}
}

// Send implements session.Protocol. A message that comes during a turn waits for its end.
func (c *client) Send(m adapters.Message, reply func(error)) {
	content, err := contentOf(m)
	if err != nil {
		reply(fmt.Errorf("send: %w", err))
		return
	}
	if err := c.queue.Check(); err != nil {
		reply(err)
		return
	}
	c.queue.Add(m, content)
	if c.t.l.Turn() != nil || c.cancelNext != nil {
		c.queue.Emit(c.t.l)
	}
	reply(nil)
	c.takeMessage()
}

// takeMessage starts the turn of the next message if no turn runs.
func (c *client) takeMessage() {
	if c.t.l.Turn() != nil || c.cancelNext != nil || c.queue.Len() == 0 || c.ended {
		return
	}
	m := c.queue.Next()
	c.queue.Emit(c.t.l)
	c.rounds = 0
	c.t.startTurn([]string{m.ID})
	c.t.l.Turn().Emit(event.UserMessage{MessageID: m.ID, Text: m.Text, Attachments: m.Attachments, Via: event.ViaTurn})
	if len(m.Content) == 1 && len(m.Attachments) == 0 {
		c.history = append(c.history, entry{Role: "user", Content: m.Text})
	} else {
		c.history = append(c.history, entry{Role: "user", Content: m.Content})
	}
	c.post()
}

// Steer implements session.Protocol. The model takes nothing into a reply.
func (c *client) Steer(_ adapters.Message, reply func(error)) {
	reply(fmt.Errorf("steer: %w", adapters.ErrUnsupported))
}

// Stop implements session.Protocol. The turn ends at once, because nothing runs but the
// request and the client's tools. The history stays valid: each call gets a result.
func (c *client) Stop(reply func(error)) {
	c.stopTurn()
	reply(nil)
}

// stopPause is how long the next message waits after a stop. The server confirms no stop, so
// without a pause a stop button that is pressed twice would stop the next turn too, and
// StopAll right after Stop could take nothing back.
const stopPause = 250 * time.Millisecond

func (c *client) stopTurn() {
	if c.t.l.Turn() == nil {
		return
	}
	streamed := c.requests.reply != 0
	c.abort()
	if streamed {
		c.keepPartial()
	}
	c.interruptCalls()
	c.t.emitUsage()
	c.t.endTurn(event.Done{Stopped: true})
	if c.queue.Len() > 0 {
		c.cancelNext = c.host.After(stopPause, func() {
			c.cancelNext = nil
			c.takeMessage()
		})
	}
}

// stopWaiting ends the pause before the next message.
func (c *client) stopWaiting() {
	if c.cancelNext != nil {
		c.cancelNext()
		c.cancelNext = nil
	}
}

// Ping implements session.Protocol.
func (c *client) Ping() {
	if c.requests.ping == 0 && !c.ended {
		c.requests.sendPing()
	}
}

// Paused implements session.Protocol.
func (c *client) Paused() bool { return c.cancelRetry != nil || len(c.calls) > 0 }

// Closing implements session.Protocol.
func (c *client) Closing() {
	c.ended = true
	c.requests.reply, c.requests.ping = 0, 0 // no abort is written: stdin is closed next
	c.abort()
	c.stopWaiting()
	c.closeCalls()
}

// Ended implements session.Ender.
func (c *client) Ended() { c.Closing() }

var (
	_ session.Protocol = (*client)(nil)
	_ session.Ender    = (*client)(nil)
)
