package opencode

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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
	nextID int
	calls  map[int]*pendingCall
	stream int // the id of the request whose reply is the stream of events
	sent   []*sentMessage
	seen   []seenMessage

	stopRequested bool // Stop was called before the session was busy
	stopping      bool // an abort was sent for the running turn
	compacting    bool // a summary was asked for and has not begun
}

// pendingCall is a request without a reply.
type pendingCall struct {
	what   string
	then   func(body jsontext.Value, err error)
	cancel func()
}

// sentMessage is a message that was sent and that the runtime has not shown yet.
type sentMessage struct {
	id, text    string
	attachments []event.Attachment
	via         event.Via
}

// seenMessage is a message that the runtime has shown, with its id there.
type seenMessage struct{ id, wire string }

// refusedError is an error reply of the runtime.
type refusedError struct {
	what   string
	status int
	words  string
}

func (e refusedError) Error() string {
	return fmt.Sprintf("%s: status %d: %s", e.what, e.status, e.words)
}
func (e refusedError) Unwrap() error { return adapters.ErrRefused }

var errTimeout = errors.New("no answer within the limit")

func newClient(h session.Host, o adapters.Options, mode string) *client {
	c := &client{host: h, o: o, mode: mode, model: o.Model, calls: map[int]*pendingCall{}}
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
	c.nextID++
	id := c.nextID
	k := &pendingCall{what: method + " " + path, then: then, cancel: func() {}}
	if limited {
		limit := c.host.Limits().Request
		k.cancel = c.host.After(limit, func() {
			delete(c.calls, id)
			then(nil, fmt.Errorf("%s: %w of %v", k.what, errTimeout, limit))
		})
	}
	c.calls[id] = k
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
	k := c.calls[id]
	switch {
	case k == nil && id == c.stream && (m.End != nil || m.Error != ""):
		c.streamEnded()
	case k == nil && id > 0 && id <= c.nextID: // it came after its limit
	case k == nil:
		c.t.noticeUnknown("a reply to no request", b)
	default:
		delete(c.calls, id)
		k.cancel()
		if m.Status >= http.StatusBadRequest || m.Error != "" || m.Status == 0 {
			f := lenient.Decode[failure](m.Body)
			k.then(nil, refusedError{k.what, int(m.Status), string(m.Error + f.Data.Message)})
			return
		}
		k.then(m.Body.Clone(), nil)
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
			c.failOpen("handshake", err)
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
			c.failOpen(op, err)
			return
		}
		c.t.sessionOpened(s)
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
				c.failOpen(op, err)
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

func (c *client) failOpen(op string, err error) {
	e := &adapters.OpenError{Code: event.ErrorProtocol, Op: op, Err: err}
	switch {
	case errors.Is(err, errTimeout):
		e.Code = event.ErrorTimeout
	case errors.Is(err, adapters.ErrRefused):
		e.Code = event.ErrorInvalid
	}
	c.host.Ready(e)
}

// Starting implements session.Starter.
func (c *client) Starting() bool {
	return c.t.l.Turn() == nil && slices.ContainsFunc(c.sent, func(s *sentMessage) bool { return s.via == event.ViaTurn })
}

// Stop implements session.Protocol. The runtime ignores an abort of a session that is not
// busy.
func (c *client) Stop(reply func(error)) {
	if c.t.l.Turn() != nil && c.t.main.busy {
		c.abort()
	} else {
		c.stopRequested = true
	}
	reply(nil)
}

func (c *client) abort() {
	if !c.stopping {
		c.stopping = true
		c.send("POST", c.sessionPath("/abort"), nil, true, func(_ jsontext.Value, err error) {
			if err != nil {
				c.t.notice(event.LevelWarning, event.NoticeRefused, err.Error(), nil)
			}
		})
	}
}

// becameBusy is called when the runtime works on a turn.
func (c *client) becameBusy() {
	c.compacting = false
	if c.stopRequested {
		c.stopRequested = false
		c.abort()
	}
}

func (c *client) turnEnded() { c.stopping, c.stopRequested = false, false }

// Ping implements session.Protocol.
func (c *client) Ping() {
	c.send("GET", "/session/status", nil, true, func(jsontext.Value, error) {})
}

// Paused implements session.Protocol.
func (c *client) Paused() bool {
	sc := c.t.l.Turn()
	return c.t.retrying || len(c.t.asked) > 0 || sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {
	for _, q := range slices.Clone(c.t.asked) {
		c.t.drop(q)
		c.reject(q, "")
		c.t.l.Resolve(q.id, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Starter  = (*client)(nil)
	_ session.Setter   = (*client)(nil)
)
