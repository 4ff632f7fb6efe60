package pi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// client is the live side: it sends commands and tracks their replies. It implements
// session.Protocol; all methods run under the session's lock.
type client struct {
	host   session.Host
	o      adapters.Options
	mode   string
	t      *translator
	nextID int
	calls  map[string]*pendingCall
	sent   []*sentMessage

	stopRequested bool     // Stop was called before the turn began
	stopping      bool     // an abort was sent for the running turn
	queue         []string // as emitted last
	held          []func() // write the messages that the runtime cannot take yet
	seen          []seenMessage
}

// pendingCall is a command without a reply.
type pendingCall struct {
	number  int // in the order of the calls
	command string
	then    func(data jsontext.Value, err error)
	cancel  func()
}

// sentMessage is a message that was sent and that no turn has taken.
type sentMessage struct {
	id, text    string
	attachments []event.Attachment
	via         event.Via
}

// seenMessage is a message that a turn has taken.
type seenMessage struct{ id, text string }

// refusedError is an error reply of the runtime.
type refusedError struct{ words string }

func (e refusedError) Error() string { return e.words }
func (e refusedError) Unwrap() error { return adapters.ErrRefused }

var errTimeout = errors.New("no answer within the limit")

func newClient(h session.Host, o adapters.Options, mode string) *client {
	c := &client{host: h, o: o, mode: mode, calls: map[string]*pendingCall{}}
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
	c.nextID++
	cmd.ID = "t" + strconv.Itoa(c.nextID)
	k := &pendingCall{number: c.nextID, command: cmd.Type, then: then, cancel: func() {}}
	if limited {
		limit := c.host.Limits().Request
		id := cmd.ID
		k.cancel = c.host.After(limit, func() {
			delete(c.calls, id)
			then(nil, fmt.Errorf("%s: %w of %v", cmd.Type, errTimeout, limit))
		})
	}
	c.calls[cmd.ID] = k
	c.host.Write(lenient.Encode(cmd))
}

// handleReply handles a response. The older dialect drops the id of a command that it does
// not know, so that the command's name finds the call.
func (c *client) handleReply(b []byte) {
	m := &c.t.m
	id := string(m.ID)
	k := c.calls[id]
	if k == nil && id == "" && isFalse(m.Success) {
		id, k = c.oldestCall(string(m.Command))
	}
	if k == nil {
		c.t.noticeUnknown(b)
		return
	}
	delete(c.calls, id)
	k.cancel()
	if !lenient.IsTrue(m.Success) {
		k.then(nil, refusedError{k.command + ": " + string(m.Error)})
		return
	}
	k.then(m.Data.Clone(), nil)
}

// oldestCall returns the call of the command that waits for its reply longest, or nil: the
// runtime replies in the order of its commands.
func (c *client) oldestCall(command string) (id string, oldest *pendingCall) {
	for key, k := range c.calls {
		if k.command == command && (oldest == nil || k.number < oldest.number) {
			id, oldest = key, k
		}
	}
	return id, oldest
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
			e := &adapters.OpenError{Code: event.ErrorProtocol, Op: "handshake", Err: err}
			if errors.Is(err, errTimeout) {
				e.Code = event.ErrorTimeout
			}
			c.host.Ready(e)
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
	return c.t.l.Turn() == nil && slices.ContainsFunc(c.sent, func(s *sentMessage) bool { return s.via == event.ViaTurn })
}

// Send implements session.Protocol. A message that comes during a turn waits in the
// runtime's queue until the agent would stop; the turn then goes on with it.
func (c *client) Send(m adapters.Message, reply func(error)) {
	images, err := imagesOf(m.Attachments)
	if err != nil {
		reply(fmt.Errorf("send: %w", err))
		return
	}
	s := &sentMessage{id: m.ID, text: m.Text, attachments: m.Attachments, via: event.ViaTurn}
	if c.t.l.Turn() != nil || c.Starting() {
		s.via = event.ViaMerge
	}
	c.sent = append(c.sent, s)
	c.emitQueue()
	c.prompt(s, images)
	reply(nil)
}

// imagesOf returns the pictures of a message. The runtime takes no other files.
func imagesOf(attachments []event.Attachment) ([]image, error) {
	var out []image
	for i, a := range attachments {
		switch {
		case a.Kind != "image" && !strings.HasPrefix(a.MIME, "image/"):
			return nil, fmt.Errorf("attachments[%d]: not a picture: %w", i, adapters.ErrUnsupported)
		case a.Path != "":
			b, err := os.ReadFile(a.Path)
			if err != nil {
				return nil, fmt.Errorf("attachments[%d]: %w", i, err)
			}
			out = append(out, image{"image", base64.StdEncoding.EncodeToString(b), mediaType(a)})
		case strings.HasPrefix(a.URL, "data:"):
			head, data, ok := strings.Cut(strings.TrimPrefix(a.URL, "data:"), ",")
			mime, encoded := strings.CutSuffix(head, ";base64")
			if !ok || !encoded {
				return nil, fmt.Errorf("attachments[%d]: url: want data:<type>;base64,<data>", i)
			}
			out = append(out, image{"image", data, mime})
		default:
			return nil, fmt.Errorf("attachments[%d]: needs a path or a data URL: %w", i, adapters.ErrUnsupported)
		}
	}
	return out, nil
}

func mediaType(a event.Attachment) string {
	if a.MIME != "" {
		return a.MIME
	}
	switch ext := strings.ToLower(a.Path[strings.LastIndexByte(a.Path, '.')+1:]); ext {
	case "jpg", "jpeg":
		return "image/jpeg"
	case "gif", "webp":
		return "image/" + ext
	}
	return "image/png"
}

// messageRefused reports a message that the runtime rejected: as a failed turn if the
// message would have started one, else as a notice.
func (c *client) messageRefused(s *sentMessage, err error) {
	if !slices.Contains(c.sent, s) {
		return // it was taken, but the reply was lost
	}
	c.removeSent(s)
	if c.t.l.Turn() != nil {
		c.t.notice(event.LevelError, event.NoticeRefused, "message "+s.id+" was not taken: "+err.Error(), nil)
		return
	}
	code := event.ErrorInvalid
	if errors.Is(err, errTimeout) {
		code = event.ErrorTimeout
	}
	c.t.l.TurnStart(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{s.id}})
	c.t.l.Error(event.Error{Code: code, Message: err.Error()})
}

func (c *client) removeSent(s *sentMessage) {
	c.sent = slices.DeleteFunc(c.sent, func(x *sentMessage) bool { return x == s })
	c.emitQueue()
}

// Steer implements session.Protocol.
func (c *client) Steer(m adapters.Message, reply func(error)) {
	images, err := imagesOf(m.Attachments)
	if err != nil {
		reply(fmt.Errorf("steer: %w", err))
		return
	}
	s := &sentMessage{id: m.ID, text: m.Text, attachments: m.Attachments, via: event.ViaSteer}
	c.sent = append(c.sent, s)
	c.send(command{Type: "steer", Message: &m.Text, Images: images}, true, func(_ jsontext.Value, err error) {
		if err != nil {
			c.removeSent(s)
		}
		reply(err)
	})
}

// startingMessages returns the message that starts a turn.
func (c *client) startingMessages() []string {
	for _, via := range []event.Via{event.ViaTurn, event.ViaMerge} { // a turn may have ended before a message reached it
		for _, s := range c.sent {
			if s.via == via {
				s.via = event.ViaTurn
				return []string{s.id}
			}
		}
	}
	return nil
}

// messageTaken matches a message that the agent has read with one that was sent: the
// wire has its text and no id.
func (c *client) messageTaken(d *event.UserMessage) {
	for _, s := range c.sent {
		if s.text == d.Text {
			d.MessageID, d.Attachments, d.Via = s.id, s.attachments, s.via
			c.removeSent(s)
			c.seen = append(c.seen, seenMessage{s.id, s.text})
			return
		}
	}
}

// emitQueue emits the messages that wait for the agent to stop, if they have changed.
func (c *client) emitQueue() {
	var ids []string
	for _, s := range c.sent {
		if s.via == event.ViaMerge {
			ids = append(ids, s.id)
		}
	}
	if !slices.Equal(ids, c.queue) {
		c.queue = ids
		c.host.Ledger().Queue(ids)
	}
}

// Stop implements session.Protocol.
func (c *client) Stop(reply func(error)) {
	if c.t.l.Turn() != nil {
		c.abort()
	} else {
		c.stopRequested = true
	}
	reply(nil)
}

// abort stops the running turn. The reply comes after its end, so it has no limit of its
// own.
func (c *client) abort() {
	if !c.stopping {
		c.stopping = true
		c.send(command{Type: "abort"}, false, func(_ jsontext.Value, err error) {
			if err != nil {
				c.t.notice(event.LevelWarning, event.NoticeRefused, err.Error(), nil)
			}
		})
	}
}

func (c *client) turnBegan() {
	c.stopping = false
	if c.stopRequested {
		c.stopRequested = false
		c.abort()
	}
}

// turnEnded keeps the messages that the turn did not take: they stay in the runtime's queue
// until the next turn.
func (c *client) turnEnded() { c.stopping, c.stopRequested = false, false }

// Answer implements session.Protocol.
func (c *client) Answer(id string, an adapters.Answer, reply func(error)) {
	answer := func() { reply(c.answer(id, an)) }
	if q := c.t.find(id); q != nil && q.judging.Hold(answer) {
		return
	}
	answer()
}

// Ping implements session.Protocol.
func (c *client) Ping() {
	c.send(command{Type: "get_last_assistant_text"}, true, func(jsontext.Value, error) {})
}

// Paused implements session.Protocol.
func (c *client) Paused() bool {
	sc := c.t.l.Turn()
	return c.t.retrying || c.t.compacting || len(c.t.asked) > 0 || sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {
	for _, q := range slices.Clone(c.t.asked) {
		c.t.drop(q)
		c.host.Write(lenient.Encode(dialogAnswer{Type: answerType, ID: q.id, Cancelled: true}))
		c.t.l.Resolve(q.id, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Starter  = (*client)(nil)
)
