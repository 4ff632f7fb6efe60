package codex

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// client is the live side: it sends requests and tracks their results. It
// implements session.Protocol; all methods run under the session's lock.
type client struct {
	host         session.Host
	o            adapters.Options
	mode         mode
	t            *translator
	calls        session.Calls[*result]
	sent         session.Sent
	early        session.EarlyStop
	nextSettings settings
	wantedMode   string // the last requested mode
	runs         []*toolRun

	takenTurns      []takenTurn // turns of this session, oldest first
	pendingCommands int         // turns requested without a message that have not begun
}

func newClient(h session.Host, o adapters.Options, m mode) *client {
	c := &client{host: h, o: o, mode: m, wantedMode: m.name}
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
	c.host.Write(lenient.Encode(request{c.calls.Add(c.host, method, true, then), method, params}))
}

// handleResponse handles a line with an id and without a method.
func (c *client) handleResponse(b []byte) {
	m := &c.t.m
	number, _ := strconv.Atoi(string(m.ID)) // 0 is no call
	switch k := c.calls.Take(number); {
	case k == nil:
		c.t.l.Unknown(m.Method.val(), b)
	case m.Error.V != nil:
		k.Fail(m.Error.V)
	case m.Result.V != nil:
		k.Reply(m.Result.V)
	default:
		k.Reply(&result{})
	}
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
			session.FailOpen(c.host, "handshake", err)
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
				session.FailOpen(c.host, "unarchive", err)
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
			session.FailOpen(c.host, op, err)
			return
		}
		c.t.threadOpened(r, c.o.Resume != "" && !c.o.Fork, from, c.mode.name)
		c.host.Ready(nil)
	})
}

// Starting implements session.Starter.
func (c *client) Starting() bool {
	return len(c.sent) > 0 && c.t.main != nil && !c.t.main.running
}

// CommandStarting implements session.Commander.
func (c *client) CommandStarting() bool {
	return c.pendingCommands > 0 && c.t.main != nil && !c.t.main.running
}

// Send implements session.Protocol. If a turn runs, the runtime merges the
// message into it. Events report the outcome.
func (c *client) Send(m adapters.Message, reply func(error)) {
	input, err := inputOf(m)
	if err != nil {
		reply(err)
		return
	}
	th := c.t.main
	via := event.ViaTurn
	if th.running || c.Starting() {
		via = event.ViaMerge
	}
	s := c.sent.Add(m, via)
	with, taken := c.turnSettings()
	c.sendRequest("turn/start", turnParams{ThreadID: th.id, ClientUserMessageID: m.ID, Input: input, OutputSchema: c.o.Schema, settings: with}, func(r *result, err error) {
		if err != nil {
			if c.sent.Remove(s) {
				s.Refused(c.t.l, err)
			}
			return
		}
		taken()
		if r.Turn.V != nil {
			s.Turn = string(r.Turn.V.ID)
		}
	})
	reply(nil)
}

// Steer implements session.Protocol.
func (c *client) Steer(m adapters.Message, reply func(error)) {
	input, err := inputOf(m)
	if err != nil {
		reply(err)
		return
	}
	th := c.t.main
	s := c.sent.Add(m, event.ViaSteer)
	s.Turn = th.turn
	c.sendRequest("turn/steer", turnParams{ThreadID: th.id, ExpectedTurnID: th.turn, ClientUserMessageID: m.ID, Input: input}, func(_ *result, err error) {
		if err != nil {
			c.sent.Remove(s)
		}
		reply(err)
	})
}

// inputOf returns the items of a message. The runtime reads files itself, so that one without a
// path must be a picture.
func inputOf(m adapters.Message) ([]inputOut, error) {
	var in []inputOut
	if m.Text != "" || len(m.Attachments) == 0 {
		in = append(in, inputOut{Type: "text", Text: &m.Text})
	}
	for i, a := range m.Attachments {
		switch {
		case attachment.IsPicture(a) && a.URL != "":
			in = append(in, inputOut{Type: "image", URL: a.URL})
		case attachment.IsPicture(a):
			in = append(in, inputOut{Type: "localImage", Path: a.Path})
		case a.Path == "":
			return nil, fmt.Errorf("attachments[%d]: neither a picture nor a file with a path: %w", i, adapters.ErrUnsupported)
		default:
			in = append(in, inputOut{Type: "mention", Name: a.Name, Path: a.Path})
		}
	}
	return in, nil
}

// startingMessages returns the messages that started a turn.
func (c *client) startingMessages(turnID string) []string {
	var ids []string
	for _, s := range c.sent {
		if s.Via != event.ViaSteer && (s.Turn == turnID || s.Turn == "") {
			ids = append(ids, s.ID)
			break
		}
	}
	return ids
}

// messageTaken matches a message that the runtime took with one that was sent.
// Versions without client ids take messages in order.
func (c *client) messageTaken(d *event.UserMessage) {
	for _, s := range c.sent {
		if s.ID == d.MessageID || d.MessageID == "" {
			c.sent.Take(s, d)
			c.recordTaken(c.t.main.turn, s.ID)
			return
		}
	}
}

// Stop implements session.Protocol. The runtime rejects the interrupt if the
// turn has just ended, which is no error.
func (c *client) Stop(reply func(error)) {
	c.early.Stop(c.t.main.running, c.sendInterrupt)
	reply(nil)
}

func (c *client) sendInterrupt() {
	c.sendRequest("turn/interrupt", interruptParams{c.t.main.id, c.t.main.turn}, func(*result, error) {})
}

// dropUntaken reports messages that were assigned to a turn which ended before
// it took them. The runtime drops them.
func (c *client) dropUntaken(ids []string) {
	c.early.Cancel()
	for _, s := range slices.Clone(c.sent) {
		if s.Turn != "" && slices.Contains(ids, s.Turn) {
			c.sent.Remove(s)
			c.t.l.Notice(event.LevelWarning, event.NoticeRefused, "message "+s.ID+" was not taken: the turn ended first", nil)
		}
	}
}

// Answer implements session.Protocol.
func (c *client) Answer(id string, an adapters.Answer, reply func(error)) {
	c.t.questions.Answer(id, reply, func(a *question) error { return c.t.answerQuestion(a, an) })
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
	for _, a := range c.t.questions.All() {
		c.t.questions.Drop(a)
		c.t.cancel(a)
		c.t.l.Resolve(a.ID, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Starter  = (*client)(nil)
	_ session.Setter   = (*client)(nil)
)
