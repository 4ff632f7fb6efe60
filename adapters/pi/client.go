package pi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// client is the live side: it sends commands and tracks their replies. It implements
// session.Protocol; all methods run under the session's lock.
type client struct {
	host  session.Host
	o     adapters.Options
	mode  string
	t     *translator
	calls session.Calls[jsontext.Value]
	sent  session.Sent

	early    session.EarlyStop
	stopping bool // an abort was sent for the running turn
	// compactAsked is set while a summary was asked for and its turn has not begun.
	compactAsked bool
	queue        []string // as emitted last
	held         []func() // write the messages that the runtime cannot take yet
	seen         []seenMessage
}

// seenMessage is a message that a turn has taken.
type seenMessage struct{ id, text string }

func newClient(h session.Host, o adapters.Options, mode string) *client {
	c := &client{host: h, o: o, mode: mode}
	c.t = &translator{l: h.Ledger(), live: c, files: map[string]bool{}}
	return c
}

// command is what every command has. Members of one command alone are empty elsewhere.
type command struct {
	ID       string  `json:"id"`
	Type     string  `json:"type"`
	Message  *string `json:"message,omitzero"`
	Images   []image `json:"images,omitempty"`
	Behavior string  `json:"streamingBehavior,omitempty"`
	Provider string  `json:"provider,omitempty"`
	ModelID  string  `json:"modelId,omitempty"`
	Name     *string `json:"name,omitzero"`
	Entry    string  `json:"entryId,omitempty"`
}

type image struct {
	Type string `json:"type"`
	Data string `json:"data"`
	MIME string `json:"mimeType"`
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) { c.t.handleLine(b) }

// Skipped implements session.Skipper: agent_end repeats the messages of the turn.
func (c *client) Skipped(head map[string]string) {
	if head["/type"] == "agent_end" {
		c.t.runEndSkipped()
	}
}

// send sends a command and calls then once, with the data of its reply or an error.
func (c *client) send(cmd command, limited bool, then func(jsontext.Value, error)) {
	cmd.ID = "t" + strconv.Itoa(c.calls.Add(c.host, cmd.Type, limited, then))
	c.host.Write(lenient.Encode(cmd))
}

// handleReply handles a response. The older dialect drops the id of a command that it does
// not know, so that the command's name finds the call. It replies in the order of its commands.
func (c *client) handleReply(b []byte) {
	m := &c.t.m
	number, _ := strconv.Atoi(strings.TrimPrefix(string(m.ID), "t")) // 0 is no call
	if m.ID == "" && isFalse(m.Success) {
		number = c.calls.Oldest(string(m.Command))
	}
	switch k := c.calls.Take(number); {
	case k == nil:
		c.t.l.Unknown(string(m.Type), b)
	case lenient.IsTrue(m.Success):
		k.Reply(m.Data.Clone())
	default:
		k.Fail(session.RefusedError(m.Error))
	}
}

// Start implements session.Protocol. The runtime has no handshake; the first reply proves
// that it reads commands, and names the session.
func (c *client) Start() {
	c.send(command{Type: "get_state"}, true, func(v jsontext.Value, err error) {
		s := lenient.Decode[state](v)
		if err == nil && s.SessionID == "" {
			err = errors.New("get_state: the reply names no session")
		}
		if err != nil {
			session.FailOpen(c.host, "handshake", err)
			return
		}
		d := event.SessionReady{Runtime: runtimeName, ProviderSessionID: c.t.session, Model: string(c.t.model.ID), Mode: c.mode}
		if c.o.Fork {
			d.ForkedFrom = c.o.Resume
		} else {
			d.Resumed = c.o.Resume != ""
		}
		c.host.Ledger().SessionReady(d)
		c.host.Ready(nil)
	})
}

// Starting implements session.Starter.
func (c *client) Starting() bool {
	return c.t.l.Turn() == nil && c.sent.StartsTurn()
}

// CommandStarting implements session.Commander.
func (c *client) CommandStarting() bool { return c.t.l.Turn() == nil && c.compactAsked }

// Send implements session.Protocol. A message that comes during a turn waits in the
// runtime's queue until the agent would stop; the turn then goes on with it.
func (c *client) Send(m adapters.Message, reply func(error)) {
	images, err := imagesOf(m.Attachments)
	if err != nil {
		reply(fmt.Errorf("send: %w", err))
		return
	}
	via := event.ViaTurn
	if c.t.l.Turn() != nil || c.Starting() {
		via = event.ViaMerge
	}
	s := c.sent.Add(m, via)
	c.emitQueue()
	c.prompt(s, images)
	reply(nil)
}

func (c *client) messageRefused(s *session.SentMessage, err error) {
	if c.sent.Remove(s) {
		c.emitQueue()
		s.Refused(c.t.l, err)
	}
}

// Steer implements session.Protocol.
func (c *client) Steer(m adapters.Message, reply func(error)) {
	images, err := imagesOf(m.Attachments)
	if err != nil {
		reply(fmt.Errorf("steer: %w", err))
		return
	}
	s := c.sent.Add(m, event.ViaSteer)
	c.send(command{Type: "steer", Message: &m.Text, Images: images}, true, func(_ jsontext.Value, err error) {
		if err != nil && c.sent.Remove(s) {
			c.emitQueue()
		}
		reply(err)
	})
}

// imagesOf returns the pictures of a message. The runtime takes no other files.
func imagesOf(attachments []event.Attachment) (out []image, err error) {
	for i, a := range attachments {
		if !attachment.IsPicture(a) {
			return nil, fmt.Errorf("attachments[%d]: not a picture: %w", i, adapters.ErrUnsupported)
		}
		mime, data, err := attachment.Data(a)
		if err != nil {
			return nil, fmt.Errorf("attachments[%d]: %w", i, err)
		}
		out = append(out, image{"image", data, mime})
	}
	return out, nil
}

// startingMessages returns the message that starts a turn.
func (c *client) startingMessages() []string {
	for _, via := range []event.Via{event.ViaTurn, event.ViaMerge} { // a turn may have ended before a message reached it
		for _, s := range c.sent {
			if s.Via == via {
				s.Via = event.ViaTurn
				return []string{s.ID}
			}
		}
	}
	return nil
}

// messageTaken matches a message that the agent has read with one that was sent: the
// wire has its text and no id.
func (c *client) messageTaken(d *event.UserMessage) {
	for _, s := range c.sent {
		if s.Text == d.Text {
			c.sent.Take(s, d)
			c.emitQueue()
			c.seen = append(c.seen, seenMessage{s.ID, s.Text})
			return
		}
	}
}

// emitQueue emits the messages that wait for the agent to stop, if they have changed.
func (c *client) emitQueue() {
	var ids []string
	for _, s := range c.sent {
		if s.Via == event.ViaMerge {
			ids = append(ids, s.ID)
		}
	}
	if !slices.Equal(ids, c.queue) {
		c.queue = ids
		c.host.Ledger().Queue(ids)
	}
}

// Stop implements session.Protocol.
func (c *client) Stop(reply func(error)) {
	c.early.Stop(c.t.l.Turn() != nil, c.abort)
	reply(nil)
}

// abort stops the running turn. The reply comes after its end, so it has no limit of its
// own.
func (c *client) abort() {
	if !c.stopping {
		c.stopping = true
		c.send(command{Type: "abort"}, false, func(_ jsontext.Value, err error) {
			if err != nil {
				c.t.l.Notice(event.LevelWarning, event.NoticeRefused, err.Error(), nil)
			}
		})
	}
}

// turnEnded keeps the messages that the turn did not take: they stay in the runtime's queue
// until the next turn.
func (c *client) turnEnded() {
	c.stopping = false
	c.early.Cancel()
}

// Answer implements session.Protocol.
func (c *client) Answer(id string, an adapters.Answer, reply func(error)) {
	c.t.questions.Answer(id, reply, func(q *question) error { return c.answer(q, an) })
}

// Ping implements session.Protocol.
func (c *client) Ping() {
	c.send(command{Type: "get_last_assistant_text"}, true, func(jsontext.Value, error) {})
}

// Paused implements session.Protocol.
func (c *client) Paused() bool {
	sc := c.t.l.Turn()
	return c.t.retrying || c.t.compacting || len(c.t.questions) > 0 || sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {
	for _, q := range c.t.questions.All() {
		c.t.questions.Drop(q)
		c.host.Write(lenient.Encode(dialogAnswer{Type: answerType, ID: q.ID, Cancelled: true}))
		c.t.l.Resolve(q.ID, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Starter  = (*client)(nil)
)
