package codex

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/ledger"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// client is the live side: it asks the runtime and knows what was asked. It
// implements session.Protocol; all of it runs in the session's goroutine.
type client struct {
	host   session.Host
	o      adapters.Options
	mode   mode
	t      *translator
	nextID int64
	calls  map[int64]*call
	sent   []*sent
	stop   bool // Stop came before the turn had begun
	next   settings
	wanted string // the mode that was asked for last
	runs   []*toolRun

	taken    []taken // turns of this session, oldest first
	commands int     // turns that we asked for without a message and that have not begun
}

type call struct {
	method string
	then   func(r *result, err error)
	cancel func()
}

// sent is a message that the runtime was told and has not taken.
type sent struct {
	id   string
	via  event.Via
	turn string // the turn that the reply put it into
}

var errTimeout = errors.New("no answer within the limit")

func newClient(h session.Host, o adapters.Options, m mode) *client {
	c := &client{host: h, o: o, mode: m, calls: map[int64]*call{}, wanted: m.name}
	c.t = &translator{l: h.Ledger(), live: c}
	return c
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) { c.t.line(b) }

// ask sends a request; then is called once, with its result or an error.
func (c *client) ask(method string, params any, then func(*result, error)) {
	c.nextID++
	id := c.nextID
	k := &call{method: method, then: then}
	limit := c.host.Limits().Request
	k.cancel = c.host.After(limit, func() {
		delete(c.calls, id)
		then(nil, fmt.Errorf("%s: %w of %v", method, errTimeout, limit))
	})
	c.calls[id] = k
	c.host.Write(encode(request{id, method, params}))
}

// response handles a line with an id and no method.
func (c *client) response(b []byte) {
	m := &c.t.m
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	k := c.calls[id]
	if err != nil || k == nil {
		c.t.unknown(b)
		return
	}
	delete(c.calls, id)
	k.cancel()
	if e := m.Error.v; e != nil {
		k.then(nil, fmt.Errorf("%s: %w", k.method, e))
		return
	}
	r := m.Result.v
	if r == nil {
		r = &result{}
	}
	k.then(r, nil)
}

func (c *client) result(id jsontext.Value, v any) { c.host.Write(encode(reply{id, v})) }

func (c *client) fault(id jsontext.Value, msg string) {
	e := errorReply{ID: id}
	e.Error.Code, e.Error.Message = -32601, msg
	c.host.Write(encode(e))
}

// Start implements session.Protocol: the handshake.
func (c *client) Start() {
	var p initializeParams
	p.ClientInfo.Name, p.ClientInfo.Title, p.ClientInfo.Version = "turnspec", "Turnspec", clientVersion
	p.Capabilities.ExperimentalAPI = true
	c.ask("initialize", p, func(r *result, err error) {
		if err != nil {
			c.failOpen("handshake", err)
			return
		}
		c.t.version = versionOf(string(r.UserAgent))
		c.host.Write(encode(notification{"initialized"}))
		if !c.o.Unarchive {
			c.openThread()
			return
		}
		c.thread("thread/unarchive", idParams{c.o.Resume}, func(err error) {
			if err != nil {
				c.failOpen("unarchive", err)
				return
			}
			c.openThread()
		})
	})
}

func (c *client) openThread() {
	p := threadParams{Cwd: c.o.Dir, Model: c.o.Model, ApprovalPolicy: c.mode.approval, Sandbox: c.mode.sandbox}
	if c.o.Judge != nil {
		p.ApprovalPolicy = judged
	}
	method, op, from := "thread/start", "start thread", ""
	if c.o.Resume != "" {
		method, op = "thread/resume", "resume"
		p.ThreadID, p.ExcludeTurns = c.o.Resume, true
		if c.o.Fork {
			method, op, from = "thread/fork", "fork", c.o.Resume
			p.LastTurnID = c.o.At
		}
	} else {
		p.Tools = dynamicTools(c.o.Tools) // a thread keeps the tools that it began with
	}
	c.ask(method, p, func(r *result, err error) {
		if err == nil && (r.Thread.v == nil || r.Thread.v.ID == "") {
			err = fmt.Errorf("%s: the result names no thread", method)
		}
		if err != nil {
			c.failOpen(op, err)
			return
		}
		c.t.opened(r, c.o.Resume != "" && !c.o.Fork, from, c.mode.name)
		c.host.Ready(nil)
	})
}

func (c *client) failOpen(op string, err error) {
	e := &adapters.OpenError{Code: event.ErrorProtocol, Op: op, Err: err}
	var rpc *rpcError
	switch {
	case errors.Is(err, errTimeout):
		e.Code = event.ErrorTimeout
	case errors.As(err, &rpc):
		e.Code = event.ErrorInvalid
	}
	c.host.Ready(e)
}

// Starting implements session.Starter.
func (c *client) Starting() bool {
	return len(c.sent) > 0 && c.t.main != nil && !c.t.main.on
}

// Send implements session.Protocol. The runtime merges a message that comes
// while a turn runs into that turn. What becomes of it is told by events.
func (c *client) Send(m adapters.Message, reply func(error)) {
	th := c.t.main
	s := &sent{id: m.ID, via: event.ViaTurn}
	if th.on || c.Starting() {
		s.via = event.ViaMerge
	}
	c.sent = append(c.sent, s)
	with, taken := c.turnSettings()
	c.ask("turn/start", turnParams{ThreadID: th.id, ClientUserMessageID: m.ID, Input: inputOf(m), OutputSchema: c.o.Schema, settings: with}, func(r *result, err error) {
		if err != nil {
			c.refused(s, err)
			return
		}
		taken()
		if r.Turn.v != nil {
			s.turn = string(r.Turn.v.ID)
		}
	})
	reply(nil)
}

// refused tells of a message that the runtime did not take: as a turn that
// failed when it would have begun one.
func (c *client) refused(s *sent, err error) {
	if !slices.Contains(c.sent, s) {
		return // it was taken before the reply was lost
	}
	c.unsend(s)
	l := c.t.l
	if c.t.main.on {
		l.Emit(event.Notice{Level: event.LevelError, Code: event.NoticeRefused, Text: "message " + s.id + " was not taken: " + err.Error()})
		return
	}
	code := event.ErrorInvalid
	if errors.Is(err, errTimeout) {
		code = event.ErrorTimeout
	}
	l.TurnStart(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{s.id}})
	l.Error(event.Error{Code: code, Message: err.Error()})
}

func (c *client) unsend(s *sent) {
	c.sent = slices.DeleteFunc(c.sent, func(x *sent) bool { return x == s })
}

// Steer implements session.Protocol.
func (c *client) Steer(m adapters.Message, reply func(error)) {
	th := c.t.main
	s := &sent{id: m.ID, via: event.ViaSteer, turn: th.turn}
	c.sent = append(c.sent, s)
	c.ask("turn/steer", turnParams{ThreadID: th.id, ExpectedTurnID: th.turn, ClientUserMessageID: m.ID, Input: inputOf(m)}, func(_ *result, err error) {
		if err != nil {
			c.unsend(s)
		}
		reply(err)
	})
}

func inputOf(m adapters.Message) []inputOut {
	var in []inputOut
	if m.Text != "" || len(m.Attachments) == 0 {
		in = append(in, inputOut{Type: "text", Text: &m.Text})
	}
	for _, a := range m.Attachments {
		switch {
		case a.Kind == "image" && a.URL != "":
			in = append(in, inputOut{Type: "image", URL: a.URL})
		case a.Kind == "image":
			in = append(in, inputOut{Type: "localImage", Path: a.Path})
		default:
			in = append(in, inputOut{Type: "mention", Name: a.Name, Path: a.Path})
		}
	}
	return in
}

// causes are the messages that began a turn.
func (c *client) causes(turnID string) []string {
	var ids []string
	for _, s := range c.sent {
		if s.via != event.ViaSteer && (s.turn == turnID || s.turn == "") {
			ids = append(ids, s.id)
			break
		}
	}
	return ids
}

// took matches a message that the runtime took with the one that was sent.
// Versions without client ids take them in order.
func (c *client) took(d *event.UserMessage) {
	for _, s := range c.sent {
		if s.id == d.MessageID || d.MessageID == "" {
			d.MessageID, d.Via = s.id, s.via
			c.unsend(s)
			c.remember(c.t.main.turn, s.id)
			return
		}
	}
}

// Stop implements session.Protocol. It is refused when the turn has just ended,
// which is as well.
func (c *client) Stop(reply func(error)) {
	if c.t.main.on {
		c.interrupt()
	} else {
		c.stop = true
	}
	reply(nil)
}

func (c *client) interrupt() {
	c.ask("turn/interrupt", interruptParams{c.t.main.id, c.t.main.turn}, func(*result, error) {})
}

func (c *client) turnBegan() {
	c.commands = 0
	if c.stop {
		c.stop = false
		c.interrupt()
	}
}

// turnEnded tells of messages that went into a turn which ended before it took
// them: the runtime drops them.
func (c *client) turnEnded(ids []string) {
	c.stop = false
	for _, s := range slices.Clone(c.sent) {
		if s.turn != "" && slices.Contains(ids, s.turn) {
			c.unsend(s)
			c.t.l.Emit(event.Notice{Level: event.LevelWarning, Code: event.NoticeRefused,
				Text: "message " + s.id + " was not taken: the turn ended before"})
		}
	}
}

// Answer implements session.Protocol.
func (c *client) Answer(id string, an adapters.Answer, reply func(error)) {
	if i := slices.IndexFunc(c.t.asks, func(a *ask) bool { return a.id == id && a.judged }); i >= 0 {
		a := c.t.asks[i]
		a.waits = append(a.waits, func() { reply(c.t.answer(id, an)) })
		return
	}
	reply(c.t.answer(id, an))
}

// Ping implements session.Protocol: any reply is a sign of life. It asks for what
// the runtime has in memory; thread/read with turns makes 0.169 warn its user.
func (c *client) Ping() {
	c.ask("thread/loaded/list", struct{}{}, func(*result, error) {})
}

// Paused implements session.Protocol.
func (c *client) Paused() bool {
	th := c.t.main
	if th == nil {
		return false
	}
	if th.retrying || th.compacting || len(c.t.asks) > 0 {
		return true
	}
	sc := c.t.l.Turn()
	return sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {
	for _, r := range slices.Clone(c.runs) {
		c.giveUp(r)
	}
	for _, a := range slices.Clone(c.t.asks) {
		c.t.drop(a)
		c.t.cancel(a)
		c.t.l.Resolve(a.id, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Starter  = (*client)(nil)
	_ session.Setter   = (*client)(nil)
)

// Normalizer turns a transcript of the runtime's stdout into events, by the
// same translation as a live session. The client's lines are not needed: what
// the client asked for shows in the replies.
type Normalizer struct {
	l *ledger.Ledger
	t *translator
}

// NewNormalizer makes a Normalizer that hands events to emit.
func NewNormalizer(sessionID string, emit func(event.Event)) *Normalizer {
	l := ledger.New(event.SessionReady{SessionID: sessionID, Runtime: "codex"}, event.Position{}, emit)
	return &Normalizer{l: l, t: &translator{l: l}}
}

// Line handles one line of stdout that was received at a time. b is not kept.
func (n *Normalizer) Line(at time.Time, b []byte) {
	n.l.SetTime(at)
	n.t.line(b)
}

// End ends the session. A turn that still runs ends in an error: the transcript
// does not hold its end.
func (n *Normalizer) End() {
	n.l.SessionEnd(&event.Error{Code: event.ErrorCrash, Message: "the transcript ends within a turn"},
		event.SessionEnd{Reason: "end of transcript"})
}
