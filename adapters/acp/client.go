package acp

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/proc"
)

// client is the live side: it sends requests and tracks their replies. It implements
// session.Protocol; all methods run under the session's lock.
type client struct {
	host  session.Host
	o     adapters.Options
	dir   string
	t     *translator
	calls session.Calls[jsontext.Value]

	info    initResult
	modes   []string // that the agent offers
	effort  string   // the agent's option for how much the model reasons, or ""
	option  modeOption
	waiting session.Waiting[[]promptBlock]

	offered        Adapter
	terminals      map[string]*terminal
	lastTerminal   int
	launchTerminal proc.Launcher

	busy bool // a prompt has no reply yet
}

func newClient(h session.Host, o adapters.Options, dir string, offered Adapter) *client {
	c := &client{host: h, o: o, dir: dir, offered: offered, terminals: map[string]*terminal{}, launchTerminal: proc.Exec{}}
	c.t = &translator{l: h.Ledger(), live: c, agent: &otherAgent}
	return c
}

// request is a request or a notification of the client.
type request struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method"`
	Params  any            `json:"params"`
}

// reply is the reply to a request of the agent.
type reply struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Result  any            `json:"result,omitzero"`
	Error   *errorBody     `json:"error,omitzero"`
}

type errorBody struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) { c.t.handleLine(b) }

// send sends a request and calls then once, with the result or an error.
func (c *client) send(method string, params any, limited bool, then func(jsontext.Value, error)) {
	id := strconv.Itoa(c.calls.Add(c.host, method, limited, then) - 1)
	c.host.Write(lenient.Encode(request{"2.0", jsontext.Value(id), method, params}))
}

func (c *client) notify(method string, params any) {
	c.host.Write(lenient.Encode(request{"2.0", nil, method, params}))
}

func (c *client) answerRequest(id jsontext.Value, result any) {
	c.host.Write(lenient.Encode(reply{Version: "2.0", ID: id, Result: result}))
}

func (c *client) refuseRequest(id jsontext.Value, code int, why string) {
	c.host.Write(lenient.Encode(reply{Version: "2.0", ID: id, Error: &errorBody{code, why}}))
}

// handleReply handles a reply to a request of the client.
func (c *client) handleReply(b []byte) {
	m := &c.t.m
	number, err := strconv.Atoi(strings.Trim(string(m.ID), `"`))
	if err != nil {
		number = -1
	}
	switch k := c.calls.Take(number + 1); {
	case k == nil:
		c.t.l.Notice(event.LevelInfo, event.NoticeUnknownMessage, "a reply to no open request was ignored", b)
	case len(m.Error) > 0 && m.Error.Kind() != 'n':
		k.Fail(lenient.Decode[rpcError](m.Error))
	default:
		k.Reply(m.Result.Clone())
	}
}

// sessionParams are the parameters of a request about the session.
type sessionParams struct {
	SessionID string `json:"sessionId"`
}

// Send implements session.Protocol. The protocol has no queue: a message that comes during a
// turn waits here until the turn has ended.
func (c *client) Send(m adapters.Message, reply func(error)) {
	blocks, err := promptOf(m)
	if err != nil {
		reply(fmt.Errorf("send: %w", err))
		return
	}
	if err := c.waiting.Check(); err != nil {
		reply(err)
		return
	}
	c.waiting.Add(m, blocks)
	if c.busy {
		c.waiting.Emit(c.t.l)
	}
	c.startNext()
	reply(nil)
}

// startNext sends the message that has waited longest, if no turn runs. The protocol reports no
// start of a turn: it begins with its message.
func (c *client) startNext() {
	if c.busy || c.waiting.Len() == 0 {
		return
	}
	m := c.waiting.Next()
	c.waiting.Emit(c.t.l)
	c.busy = true
	sc := c.t.beginTurn(event.TurnStart{Cause: event.CauseUser, MessageIDs: []string{m.ID}})
	sc.Emit(event.UserMessage{MessageID: m.ID, Text: m.Text, Attachments: m.Attachments, Via: event.ViaTurn})
	c.send("session/prompt", struct {
		SessionID string        `json:"sessionId"`
		Prompt    []promptBlock `json:"prompt"`
	}{c.t.session, m.Content}, false, func(v jsontext.Value, err error) {
		c.t.promptEnded(v, err)
		c.busy = false
		c.startNext()
	})
}

// promptBlock is a block of a prompt.
type promptBlock struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitzero"`
	MIME     string    `json:"mimeType,omitempty"`
	Data     string    `json:"data,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitzero"`
}

type resource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType,omitempty"`
	Text *string `json:"text,omitzero"`
	Blob string  `json:"blob,omitempty"` // in base64, of what is no text
}

// resourceOf returns the contents of a file as a resource.
func resourceOf(uri, mime string, b []byte) promptBlock {
	r := &resource{URI: uri, MIME: mime}
	if text := string(b); utf8.ValidString(text) {
		r.Text = &text
	} else {
		r.Blob = base64.StdEncoding.EncodeToString(b)
	}
	return promptBlock{Type: "resource", Resource: r}
}

// promptOf returns the blocks of a message: its text, pictures with their bytes, and other
// files as resources.
func promptOf(m adapters.Message) ([]promptBlock, error) {
	out := []promptBlock{{Type: "text", Text: &m.Text}}
	for i, a := range m.Attachments {
		b, err := blockOf(a)
		if err != nil {
			return nil, fmt.Errorf("attachments[%d]: %w", i, err)
		}
		out = append(out, b)
	}
	return out, nil
}

func blockOf(a event.Attachment) (promptBlock, error) {
	switch {
	case attachment.IsPicture(a) && (a.Path != "" || attachment.IsData(a)):
		mime, data, err := attachment.Data(a)
		return promptBlock{Type: "image", MIME: mime, Data: data}, err
	case a.Path != "":
		b, err := os.ReadFile(a.Path)
		return resourceOf(fileURI(a.Path), a.MIME, b), err
	case attachment.IsData(a): // an agent would take the address for the words of a link
		mime, b, err := attachment.Bytes(a)
		return resourceOf(fileURI("/"+cmp.Or(a.Name, "attachment")), mime, b), err
	case a.URL != "":
		return promptBlock{Type: "resource_link", URI: a.URL, Name: nameOf(a), MIME: a.MIME}, nil
	}
	return promptBlock{}, fmt.Errorf("needs a path or a URL: %w", adapters.ErrUnsupported)
}

func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func nameOf(a event.Attachment) string {
	if a.Name != "" {
		return a.Name
	}
	return a.URL[strings.LastIndexByte(a.URL, '/')+1:]
}

// Steer implements session.Protocol. The protocol has no such request.
func (c *client) Steer(_ adapters.Message, reply func(error)) {
	reply(fmt.Errorf("steer: %w", adapters.ErrUnsupported))
}

// Stop implements session.Protocol. A client that cancels a turn must answer the questions
// that are open in it.
func (c *client) Stop(reply func(error)) {
	c.cancelTurn()
	reply(nil)
}

func (c *client) cancelTurn() {
	c.t.stopped = true
	c.notify("session/cancel", sessionParams{c.t.session})
	for _, q := range c.t.questions.All() {
		c.t.withdraw(q)
	}
}

// Ping implements session.Protocol. An agent without the method answers with an error.
func (c *client) Ping() {
	c.send("session/list", struct {
		Cwd string `json:"cwd"`
	}{c.dir}, true, func(jsontext.Value, error) {})
}

// Paused implements session.Protocol.
func (c *client) Paused() bool {
	sc := c.t.l.Turn()
	return len(c.t.questions) > 0 || c.terminalRuns() || sc != nil && sc.ToolsOpen() > 0
}

// Closing implements session.Protocol.
func (c *client) Closing() {
	c.killTerminals()
	for _, q := range c.t.questions.All() {
		c.t.questions.Drop(q)
		c.answerRequest(q.rpc, q.cancelled())
		c.t.l.Resolve(q.ID, event.DecisionCancel, event.ByPolicy, nil)
	}
}

var (
	_ session.Protocol = (*client)(nil)
	_ session.Setter   = (*client)(nil)
)
