// Package pi drives `pi --mode rpc` for the recorder, in both of its dialects.
//
// The model is reached as one that speaks chat completions: with this API the blocks of a
// reply end together, calls of tools come in pieces, and a stream that is cut has no error.
// Pi itself asks for no permission. Where a scenario needs that, an extension does,
// with a dialog for each call.
package pi

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wirepi "github.com/turnspec/turnspec/fixtures/wire/pi"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// Runtime is Pi.
var Runtime = &drive.Runtime{
	Wire:      wirepi.Runtime,
	New:       newPi,
	Connect:   connect,
	SessionIn: regexp.MustCompile(`"assistantMessageEvent"\s*:`),
	Options:   []string{"instructions", "replacing instructions", "effort"},
}

// client drives one run.
type client struct {
	drive.Unsupported
	d   *drive.Driver
	cfg config

	nextID   int
	calls    map[string]*call
	open     []question
	sessions []string // opened, in order
	session  string
	raw      drive.RawRequests

	sent     []*message
	queued   []string // the texts that the runtime holds back
	running  bool     // a turn runs
	retries  int
	streams  bool            // a message of the model is being streamed
	block    string          // the tool call whose input is being streamed
	inputs   map[string]bool // tool calls of whose input a part was streamed
	tools    map[string]bool // tool calls that the wire shows
	outputs  map[string]bool // tool calls of whose output it shows a part
	results  map[string]bool // tool calls whose result it shows
	main     drive.Text
	compacts bool // a summary is being made
	began    bool // the wire shows that the last compaction has begun
}

// message is one that the client has sent.
type message struct {
	id, text     string
	taken, ended bool
}

// call is a command of the client that has no reply yet.
type call struct {
	done   bool
	err    error
	result jsontext.Value
}

// question is a dialog of the extension.
type question struct{ id, tool, method string }

func newPi(d *drive.Driver) (drive.Client, error) {
	cfg, err := configFor(d.Scenario.InitialMode(), d.Scenario.Needs)
	c := &client{
		Unsupported: "pi", d: d, cfg: cfg, inputs: map[string]bool{}, tools: map[string]bool{}, outputs: map[string]bool{}, results: map[string]bool{},
	}
	switch s := d.Scenario; {
	case err != nil:
		return nil, err
	case len(s.Servers) > 0:
		return nil, c.Error("starts MCP servers")
	case len(s.Tools) > 0:
		return nil, c.Error("offers tools of the client")
	case len(s.Hooks) > 0:
		return nil, c.Error("calls hooks of the client")
	case s.Policy != nil:
		c.cfg.asks = []string{"bash", "edit", "find", "grep", "ls", "read", "write"}
	case s.Schema != nil:
		return nil, c.Error("takes a schema of the final answer")
	}
	return c, nil
}

// Open implements drive.Client.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	conn := c.cfg.connection(c.d.Model.URL())
	home := wire.Getenv(c.d.Env, "HOME")
	if err := conn.WriteHome(home); err != nil {
		return err
	}
	args := append([]string{"--mode", "rpc"}, conn.Args...)
	gate, err := c.cfg.extensionArgs(home)
	if err != nil {
		return err
	}
	args = append(args, gate...)
	if model := c.d.Scenario.OpenModel("pi", c.d.Version); model != "" {
		args = append(args, "--model", model)
	}
	if text := c.d.Scenario.Opening.Instructions; text != "" && c.d.Scenario.Opening.ReplaceInstructions {
		args = append(args, "--system-prompt", text)
	} else if text != "" {
		args = append(args, "--append-system-prompt", text)
	}
	if effort := c.d.Scenario.Opening.Effort; effort != "" {
		args = append(args, "--thinking", effort)
	}
	session, err := drive.SessionOf(s, c.sessions, c.session)
	switch {
	case err != nil:
		return err
	case s.At != "":
		return c.Error("copies a session up to a message")
	case s.What == "resume":
		args = append(args, "--session", session)
	case s.What == "fork":
		args = append(args, "--fork", session)
	case s.What != "" && s.What != "bare":
		return c.Error("restores a session from an archive")
	}
	c.calls, c.open, c.raw, c.running, c.streams, c.compacts, c.queued = map[string]*call{}, nil, drive.RawRequests{}, false, false, false, nil
	for _, m := range c.sent {
		m.ended = true
	}
	if err := c.d.Spawn(append(args, s.Args...), conn.Env); err != nil || s.What == "bare" {
		return err
	}
	return c.readState()
}

// readState asks for the session, which no other line names.
func (c *client) readState() error {
	_, err := c.request("get_state", "")
	return err
}

// request writes a command and waits for its reply. members are those beside id and type.
func (c *client) request(command, members string) (jsontext.Value, error) {
	sent, err := c.post(command, members)
	if err != nil {
		return nil, err
	}
	if err := c.d.Until("the reply to "+command, func() bool { return sent.done }); err != nil {
		return nil, err
	}
	return sent.result, sent.err
}

func (c *client) post(command, members string) (*call, error) {
	c.nextID++
	id := "c" + strconv.Itoa(c.nextID)
	if members != "" {
		members = "," + members
	}
	sent := &call{}
	c.calls[id] = sent
	return sent, c.d.Write(jsontext.Value(fmt.Sprintf(`{"id":%q,"type":%q%s}`, id, command, members)))
}

func quote(s string) string { return string(wire.Quote(s)) }

// Send implements drive.Client. A message that is sent while a turn runs waits in the
// runtime's queue until the agent would stop.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	if s.ByPath || s.What != "" {
		return c.Error("sends a message with a priority, or with the path of a picture")
	}
	members := `"message":` + quote(s.Text)
	images, err := c.images(s.Files)
	if err != nil {
		return err
	}
	members += images
	if c.running || c.expects() {
		members += `,"streamingBehavior":"followUp"`
	}
	return c.send("prompt", s.ID, s.Text, members)
}

// images are the attached pictures, as a member. Other files have no form.
func (c *client) images(files []string) (string, error) {
	var out []string
	for _, name := range files {
		mime := fixtures.MIME(name)
		if !strings.HasPrefix(mime, "image/") {
			return "", c.Error("attaches a file that is no picture")
		}
		b, err := c.d.ReadFile(name)
		if err != nil {
			return "", err
		}
		out = append(out, fmt.Sprintf(`{"type":"image","data":%q,"mimeType":%q}`, base64.StdEncoding.EncodeToString(b), mime))
	}
	if len(out) == 0 {
		return "", nil
	}
	return `,"images":[` + strings.Join(out, ",") + `]`, nil
}

func (c *client) send(command, id, text, members string) error {
	m := &message{id: id, text: text}
	c.sent = append(c.sent, m)
	_, err := c.request(command, members)
	if err != nil {
		m.ended = true
	}
	return err
}

func (c *client) steer(_ context.Context, s fixtures.Step) error {
	return c.send("steer", s.ID, s.Text, `"message":`+quote(s.Text))
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.Steer:    c.steer,
		op.SetModel: c.set,
		op.SetMode:  c.set,
		op.StopAll:  c.stopAll,
		op.Revert:   c.revert,
		op.Compact:  c.compact,
		op.Rename:   c.rename,
		op.List:     c.list,
	}
}

// Stop implements drive.Client. It waits for the turn of a message that was sent, because
// an idle runtime ignores an abort.
func (c *client) Stop(context.Context) error {
	if err := c.d.Until("the turn to begin that is to be stopped", func() bool { return c.running || c.compacts || !c.expects() }); err != nil {
		return err
	}
	_, err := c.request("abort", "")
	return err
}

// expects reports whether a message has come to no turn yet and is not queued.
func (c *client) expects() bool {
	return slices.ContainsFunc(c.sent, func(m *message) bool { return !m.taken && !m.ended && !slices.Contains(c.queued, m.text) })
}

// stopAll empties the queue and stops the turn. The older dialect has no command for it.
func (c *client) stopAll(ctx context.Context, _ fixtures.Step) error {
	if wire.CompareVersions(c.d.Version, newDialect) < 0 {
		return c.Error("removes queued messages")
	}
	if _, err := c.request("clear_queue", ""); err != nil {
		return err
	}
	for _, m := range c.sent {
		m.ended = m.ended || !m.taken
	}
	return c.Stop(ctx)
}

func (c *client) set(_ context.Context, s fixtures.Step) error {
	if s.What != "model" {
		return c.Error("changes the permission mode")
	}
	provider, model, ok := strings.Cut(s.ValueFor("pi", c.d.Version), "/")
	if !ok {
		provider, model = providerName, provider
	}
	_, err := c.request("set_model", fmt.Sprintf(`"provider":%q,"modelId":%q`, provider, model))
	return drive.CheckRefusal(err, s.Refused)
}

// compact returns when the work has begun: the reply comes after the work, which a scenario
// may wait for or stop.
func (c *client) compact(context.Context, fixtures.Step) error {
	c.began = false
	sent, err := c.post("compact", "")
	if err != nil {
		return err
	}
	if err := c.d.Until("the compaction to begin", func() bool { return c.began || sent.done }); err != nil || c.began {
		return err
	}
	return sent.err
}

func (c *client) rename(_ context.Context, s fixtures.Step) error {
	_, err := c.request("set_session_name", `"name":`+quote(s.Text))
	return err
}

func (c *client) list(_ context.Context, s fixtures.Step) error {
	command := map[string]string{"models": "get_available_models", "commands": "get_commands"}[s.What]
	if command == "" {
		return c.Error("lists " + s.What)
	}
	_, err := c.request(command, "")
	return err
}

// revert copies the session up to the message; the copy goes on.
func (c *client) revert(_ context.Context, s fixtures.Step) error {
	v, err := c.request("get_fork_messages", "")
	if err != nil {
		return err
	}
	var list struct {
		Messages []struct {
			Entry string `json:"entryId"`
			Text  string `json:"text"`
		} `json:"messages"`
	}
	if err := wire.Decode(v, &list); err != nil {
		return err
	}
	entry := "00000000" // of a message that there is not
	for _, sent := range c.sent {
		for _, m := range list.Messages {
			if sent.id == s.ID && sent.text == m.Text {
				entry = m.Entry
			}
		}
	}
	if _, err := c.request("fork", fmt.Sprintf(`"entryId":%q`, entry)); err != nil {
		return err
	}
	return c.readState()
}

// Raw implements drive.Client.
func (c *client) Raw(_ context.Context, s fixtures.Step) error {
	return c.d.WriteRequest(c.raw, strings.ReplaceAll(s.Text, "SESSION", c.session))
}
