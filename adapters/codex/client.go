package codex

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// client is the live side: it sends requests and tracks their results. It
// implements session.Protocol; all methods run under the session's lock.
type client struct {
	host          session.Host
	o             adapters.Options
	mode          mode
	t             *translator
	nextID        int64
	calls         map[int64]*pendingCall
	sent          []*sentMessage
	stopRequested bool // Stop was called before the turn began
	nextSettings  settings
	wantedMode    string // the last requested mode
	runs          []*toolRun

	takenTurns      []takenTurn // turns of this session, oldest first
	pendingCommands int         // turns requested without a message that have not begun
}

type pendingCall struct {
	method string
	then   func(r *result, err error)
	cancel func()
}

// sentMessage is a message that was sent and that no turn has taken.
type sentMessage struct {
	id          string
	attachments []event.Attachment
	via         event.Via
	turn        string // the turn that the reply assigned it to
}

var errTimeout = errors.New("no answer within the limit")

func newClient(h session.Host, o adapters.Options, m mode) *client {
	c := &client{host: h, o: o, mode: m, calls: map[int64]*pendingCall{}, wantedMode: m.name}
	c.t = &translator{l: h.Ledger(), live: c}
	return c
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) { c.t.handleLine(b) }

// Skipped implements session.Skipper: turn/completed repeats the last message.
func (c *client) Skipped(head map[string]string) {
	if head["/method"] == "turn/completed" {
		c.t.turnEndSkipped(head["/params/threadId"], head["/params/turn/id"])
	}
}

// sendRequest sends a request and calls then once, with its result or an error.
func (c *client) sendRequest(method string, params any, then func(*result, error)) {
	c.nextID++
	id := c.nextID
	k := &pendingCall{method: method, then: then}
	limit := c.host.Limits().Request
	k.cancel = c.host.After(limit, func() {
		delete(c.calls, id)
		then(nil, fmt.Errorf("%s: %w of %v", method, errTimeout, limit))
	})
	c.calls[id] = k
	c.host.Write(lenient.Encode(request{id, method, params}))
}

// handleResponse handles a line with an id and without a method.
func (c *client) handleResponse(b []byte) {
	m := &c.t.m
	id, err := strconv.ParseInt(string(m.ID), 10, 64)
	k := c.calls[id]
	if err != nil || k == nil {
		c.t.noticeUnknown(b)
		return
	}
	delete(c.calls, id)
	k.cancel()
	if e := m.Error.V; e != nil {
		k.then(nil, fmt.Errorf("%s: %w", k.method, e))
		return
	}
	r := m.Result.V
	if r == nil {
		r = &result{}
	}
	k.then(r, nil)
}

func (c *client) sendResult(id jsontext.Value, v any) { c.host.Write(lenient.Encode(reply{id, v})) }

func (c *client) sendError(id jsontext.Value, msg string) {
	e := errorReply{ID: id}
	e.Error.Code, e.Error.Message = -32601, msg
	c.host.Write(lenient.Encode(e))
}

// Start implements session.Protocol.
func (c *client) Start() {
	var p initializeParams
	p.ClientInfo.Name, p.ClientInfo.Title, p.ClientInfo.Version = "turnspec", "Turnspec", clientVersion
	p.Capabilities.ExperimentalAPI = true
	c.sendRequest("initialize", p, func(r *result, err error) {
		if err != nil {
			c.failOpen("handshake", err)
			return
		}
		c.t.version = versionOf(string(r.UserAgent))
		c.host.Write(lenient.Encode(notification{"initialized"}))
		if !c.o.Unarchive {
			c.openThread()
			return
		}
		c.callThread("thread/unarchive", idParams{c.o.Resume}, func(err error) {
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
	if c.o.ReplaceInstructions {
		p.Base = c.o.Instructions
	} else {
		p.Developer = c.o.Instructions
	}
	if c.o.Judge != nil {
		p.ApprovalPolicy = judgedPolicy
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
		p.Tools = dynamicTools(c.o.Tools) // a resumed thread keeps its tools
	}
	c.sendRequest(method, p, func(r *result, err error) {
		if err == nil && (r.Thread.V == nil || r.Thread.V.ID == "") {
			err = fmt.Errorf("%s: the result names no thread", method)
		}
		if err != nil {
			c.failOpen(op, err)
			return
		}
		c.t.threadOpened(r, c.o.Resume != "" && !c.o.Fork, from, c.mode.name)
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
	return len(c.sent) > 0 && c.t.main != nil && !c.t.main.running
}

// Send implements session.Protocol. If a turn runs, the runtime merges the
// message into it. Events report the outcome.
func (c *client) Send(m adapters.Message, reply func(error)) {
	th := c.t.main
	s := &sentMessage{id: m.ID, attachments: m.Attachments, via: event.ViaTurn}
	if th.running || c.Starting() {
		s.via = event.ViaMerge
	}
	c.sent = append(c.sent, s)
	with, taken := c.turnSettings()
	c.sendRequest("turn/start", turnParams{ThreadID: th.id, ClientUserMessageID: m.ID, Input: inputOf(m), OutputSchema: c.o.Schema, settings: with}, func(r *result, err error) {
		if err != nil {
			c.messageRefused(s, err)
			return
		}
		taken()
		if r.Turn.V != nil {
			s.turn = string(r.Turn.V.ID)
		}
	})
	reply(nil)
}

// messageRefused reports a message that the runtime rejected: as a failed turn
// if the message would have started one, else as a notice.
func (c *client) messageRefused(s *sentMessage, err error) {
	if !slices.Contains(c.sent, s) {
		return // it was taken, but the reply was lost
	}
	c.removeSent(s)
	l := c.t.l
	if c.t.main.running {
		c.t.notice(event.LevelError, event.NoticeRefused, "message "+s.id+" was not taken: "+err.Error(), nil)
		return
	}
	code := event.ErrorInvalid
	if errors.Is(err, errTimeout) {
		code = event.ErrorTimeout
	}
	l.TurnStart(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{s.id}})
	l.Error(event.Error{Code: code, Message: err.Error()})
}

func (c *client) removeSent(s *sentMessage) {
	c.sent = slices.DeleteFunc(c.sent, func(x *sentMessage) bool { return x == s })
}

// Steer implements session.Protocol.
func (c *client) Steer(m adapters.Message, reply func(error)) {
	th := c.t.main
	s := &sentMessage{id: m.ID, attachments: m.Attachments, via: event.ViaSteer, turn: th.turn}
	c.sent = append(c.sent, s)
	c.sendRequest("turn/steer", turnParams{ThreadID: th.id, ExpectedTurnID: th.turn, ClientUserMessageID: m.ID, Input: inputOf(m)}, func(_ *result, err error) {
		if err != nil {
			c.removeSent(s)
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

// startingMessages returns the messages that started a turn.
func (c *client) startingMessages(turnID string) []string {
	var ids []string
	for _, s := range c.sent {
		if s.via != event.ViaSteer && (s.turn == turnID || s.turn == "") {
			ids = append(ids, s.id)
			break
		}
	}
	return ids
}

// messageTaken matches a message that the runtime took with one that was sent.
// Versions without client ids take messages in order.
func (c *client) messageTaken(d *event.UserMessage) {
	for _, s := range c.sent {
		if s.id == d.MessageID || d.MessageID == "" {
			d.MessageID, d.Via, d.Attachments = s.id, s.via, s.attachments
			c.removeSent(s)
			c.recordTaken(c.t.main.turn, s.id)
			return
		}
	}
}

// Stop implements session.Protocol. The runtime rejects the interrupt if the
// turn has just ended, which is no error.
func (c *client) Stop(reply func(error)) {
	if c.t.main.running {
		c.sendInterrupt()
	} else {
		c.stopRequested = true
	}
	reply(nil)
}

func (c *client) sendInterrupt() {
	c.sendRequest("turn/interrupt", interruptParams{c.t.main.id, c.t.main.turn}, func(*result, error) {})
}

func (c *client) turnBegan() {
	c.pendingCommands = 0
	if c.stopRequested {
		c.stopRequested = false
		c.sendInterrupt()
	}
}

// dropUntaken reports messages that were assigned to a turn which ended before
// it took them. The runtime drops them.
func (c *client) dropUntaken(ids []string) {
	c.stopRequested = false
	for _, s := range slices.Clone(c.sent) {
		if s.turn != "" && slices.Contains(ids, s.turn) {
			c.removeSent(s)
			c.t.notice(event.LevelWarning, event.NoticeRefused, "message "+s.id+" was not taken: the turn ended first", nil)
		}
	}
}

// Answer implements session.Protocol.
func (c *client) Answer(id string, an adapters.Answer, reply func(error)) {
	answer := func() { reply(c.t.answerQuestion(id, an)) }
	if i := slices.IndexFunc(c.t.questions, func(a *question) bool { return a.id == id }); i >= 0 && c.t.questions[i].judging.Hold(answer) {
		return
	}
	answer()
}

// Ping implements session.Protocol. Any reply will do. It lists the loaded
// threads, because thread/read with turns makes 0.169 show a warning.
func (c *client) Ping() {
	c.sendRequest("thread/loaded/list", struct{}{}, func(*result, error) {})
}

// Paused implements session.Protocol.
func (c *client) Paused() bool {
	th := c.t.main
	if th == nil {
		return false
	}
	if th.retrying || th.compacting || len(c.t.questions) > 0 {
		return true
	}
	sc := c.t.l.Turn()
	return sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {
	for _, r := range slices.Clone(c.runs) {
		c.cancelRun(r)
	}
	for _, a := range slices.Clone(c.t.questions) {
		c.t.dropQuestion(a)
		c.t.cancel(a)
		c.t.l.Resolve(a.id, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Starter  = (*client)(nil)
	_ session.Setter   = (*client)(nil)
)
