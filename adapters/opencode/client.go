package opencode

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// client is the live side: it sends requests and tracks their replies. It implements
// session.Protocol; all methods run under the session's lock.
type client struct {
	host   session.Host
	o      adapters.Options
	mode   string
	model  string // of the next message; "": the runtime's choice
	t      *translator
	calls  session.Calls[jsontext.Value]
	stream int // the id of the request whose reply is the stream of events
	sent   session.Sent
	seen   []seenMessage

	early      session.EarlyStop
	stopping   bool // an abort was sent for the running turn
	compacting bool // a summary was asked for and has not begun
}

// seenMessage is a message that the runtime has shown, with its id there.
type seenMessage struct{ id, wire string }

func newClient(h session.Host, o adapters.Options, mode string) *client {
	c := &client{host: h, o: o, mode: mode, model: o.Model}
	c.t = newTranslator(h.Ledger(), c)
	return c
}

// request is a line that asks for something.
type request struct {
	ID     int    `json:"id"`
	Method string `json:"method"`
	Path   string `json:"path"`
	Body   any    `json:"body,omitempty"`
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) { c.t.handleLine(b) }

// send sends a request and calls then once, with the body of its reply or an error.
func (c *client) send(method, path string, body any, limited bool, then func(jsontext.Value, error)) int {
	id := c.calls.Add(c.host, method+" "+path, limited, then)
	c.host.Write(lenient.Encode(request{id, method, path, body}))
	return id
}

// sessionPath returns the path of an operation of the session.
func (c *client) sessionPath(operation string) string {
	return "/session/" + url.PathEscape(c.t.main.id) + operation
}

// handleReply handles a reply, and the end of the stream of events.
func (c *client) handleReply(m *line, b []byte) {
	id := int(m.ID)
	k := c.calls.Take(id)
	switch {
	case k == nil && id == c.stream && (m.End != nil || m.Error != ""):
		c.streamEnded()
	case k == nil && c.calls.Given(id): // it came after its limit
	case k == nil:
		c.t.l.Unknown("a reply to no request", b)
	case m.Status >= http.StatusBadRequest || m.Error != "" || m.Status == 0:
		f := lenient.Decode[failure](m.Body)
		k.Fail(session.RefusedError(fmt.Sprintf("status %v: %s", m.Status, m.Error+f.Data.Message)))
	default:
		k.Reply(m.Body.Clone())
	}
}

// streamGrace is how long a turn goes on without the stream of events. If the server exits
// meanwhile, that is why the stream has ended.
const streamGrace = time.Second

// streamEnded handles the end of the stream, after which no event comes: the turn is lost.
// The next message begins with another stream.
func (c *client) streamEnded() {
	c.stream = 0
	c.host.After(streamGrace, func() {
		if c.t.l.Turn() != nil && c.stream == 0 {
			c.t.main.failure = &failure{Name: "the stream of events has ended"}
			c.t.finishTurn()
		}
	})
}

// subscribe asks for the stream of events.
func (c *client) subscribe(then func(error)) {
	c.stream = c.send("GET", "/event", nil, true, func(_ jsontext.Value, err error) { then(err) })
}

// Start implements session.Protocol. The stream comes first, so that no event of the session
// is missed.
func (c *client) Start() {
	c.subscribe(func(err error) {
		if err != nil {
			session.FailOpen(c.host, "handshake", err)
			return
		}
		switch {
		case c.o.Fork:
			c.send("POST", "/session/"+url.PathEscape(c.o.Resume)+"/fork", struct{}{}, true, c.opened("fork"))
		case c.o.Resume != "":
			c.send("GET", "/session/"+url.PathEscape(c.o.Resume), nil, true, c.opened("resume"))
		default:
			c.send("POST", "/session", map[string]any{"permission": c.rules(c.mode)}, true, c.opened("open"))
		}
	})
}

// opened returns what is done with the reply that opens the session.
func (c *client) opened(op string) func(jsontext.Value, error) {
	return func(v jsontext.Value, err error) {
		s := lenient.Decode[info](v)
		if err == nil && s.ID == "" {
			err = errors.New("the reply names no session")
		}
		if err != nil {
			session.FailOpen(c.host, op, err)
			return
		}
		c.t.sessionOpened(s)
		if m := c.modelOf(c.model); m != nil { // session_ready states it: the first reply changes nothing
			c.t.provider, c.t.model = m.Provider, m.Model
		}
		d := event.SessionReady{
			Runtime: runtimeName, RuntimeVersion: string(s.Version), ProviderSessionID: string(s.ID), Model: c.model, Cwd: string(s.Directory), Mode: c.mode,
		}
		if op == "open" {
			c.ready(d)
			return
		}
		if d.Resumed = op == "resume"; !d.Resumed {
			d.ForkedFrom = c.o.Resume
		}
		// A session keeps its rules.
		c.send("PATCH", c.sessionPath(""), map[string]any{"permission": c.rules(c.mode)}, true, func(_ jsontext.Value, err error) {
			if err != nil {
				session.FailOpen(c.host, op, err)
				return
			}
			c.ready(d)
		})
	}
}

func (c *client) ready(d event.SessionReady) {
	c.host.Ledger().SessionReady(d)
	c.host.Ready(nil)
}

// Starting implements session.Starter.
func (c *client) Starting() bool {
	return c.t.l.Turn() == nil && c.sent.StartsTurn()
}

// CommandStarting implements session.Commander.
func (c *client) CommandStarting() bool { return c.t.l.Turn() == nil && c.compacting }

// Stop implements session.Protocol. The runtime ignores an abort of a session that is not
// busy.
func (c *client) Stop(reply func(error)) {
	c.early.Stop(c.t.l.Turn() != nil && c.t.main.busy, c.abort)
	reply(nil)
}

func (c *client) abort() {
	if !c.stopping {
		c.stopping = true
		c.send("POST", c.sessionPath("/abort"), nil, true, func(_ jsontext.Value, err error) {
			if err != nil {
				c.t.l.Notice(event.LevelWarning, event.NoticeRefused, err.Error(), nil)
			}
		})
	}
}

// becameBusy is called when the runtime works on a turn.
func (c *client) becameBusy() {
	c.compacting = false
	c.early.TurnBegan()
}

func (c *client) turnEnded() {
	c.stopping = false
	c.early.Cancel()
}

// Ping implements session.Protocol.
func (c *client) Ping() {
	c.send("GET", "/session/status", nil, true, func(jsontext.Value, error) {})
}

// Paused implements session.Protocol.
func (c *client) Paused() bool {
	sc := c.t.l.Turn()
	return c.t.retrying || len(c.t.questions) > 0 || sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {
	for _, q := range c.t.questions.All() {
		c.t.questions.Drop(q)
		c.reject(q, "")
		c.t.l.Resolve(q.ID, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Starter  = (*client)(nil)
	_ session.Setter   = (*client)(nil)
)
