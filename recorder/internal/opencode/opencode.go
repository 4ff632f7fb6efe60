// Package opencode drives `opencode serve` for the recorder. Requests and the stream of
// events are carried as lines (package adapters/httplines).
//
// The model is reached as one that speaks chat completions: with this API the text of a reply
// ends only when the stream does, after its tools may have run.
package opencode

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/httplines"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wireopencode "github.com/turnspec/turnspec/fixtures/wire/opencode"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// Runtime is OpenCode.
var Runtime = &drive.Runtime{
	Wire:       wireopencode.Runtime,
	New:        newOpenCode,
	Connect:    Connect,
	ReadSchema: readSchema,
	Relay:      httplines.Server{Ready: regexp.MustCompile(`^opencode server listening on (http://\S+)`)}.Launcher,
	SessionIn:  regexp.MustCompile(`"sessionID"\s*:\s*"ses_`),
	Options:    []string{"instructions", "effort"},
	Deadline:   3 * time.Minute, // it repeats a request that fails five times, for a minute and a half
}

// client drives one run.
type client struct {
	drive.Unsupported
	d   *drive.Driver
	cfg Config

	ready    bool
	stream   bool // the stream of events has begun
	nextID   int
	calls    map[string]*call
	sessions []string        // opened, in order
	created  map[string]bool // sessions that the stream of events has shown
	session  string
	aside    string // a second session, see Aside
	model    string // of the next message; "": the default
	plans    bool   // the next message is for the agent that plans

	sent    []*message
	asides  []*message      // of the second session
	users   map[string]bool // messages of the user that the wire has shown
	replies map[string]bool // messages of the model, and whether they are complete
	open    []question
	closed  []question // that the runtime took back, for answers that come late
	busy    bool
	retries int

	summarized              bool            // the changes of the last turn were reported, after its end
	tools, outputs, results map[string]bool // tool calls, and what the wire shows of them
	texts                   map[string]*drive.Text
	reasoning               map[string]bool // parts of reasoning
	compacts                bool
	unsettled               map[string]bool // parts that the wire has not shown whole
}

// message is one that the client has sent.
type message struct {
	id, wire     string
	taken, ended bool
}

// call is a request of the client that has no reply yet.
type call struct {
	done  bool
	err   error
	aside bool // it opens the second session
}

// question is a permission, or a question of a tool.
type question struct {
	id, tool   string
	permission bool
	questions  []string
}

func newOpenCode(d *drive.Driver) (drive.Client, error) {
	cfg, err := ConfigFor(d.Scenario.InitialMode(), d.Scenario.Needs)
	c := &client{
		Unsupported: "opencode", d: d, cfg: cfg, created: map[string]bool{}, users: map[string]bool{}, replies: map[string]bool{},
		tools: map[string]bool{}, outputs: map[string]bool{}, results: map[string]bool{},
		texts: map[string]*drive.Text{}, reasoning: map[string]bool{}, unsettled: map[string]bool{},
	}
	c.cfg.Servers = d.Scenario.Servers
	// Some forty lines that name the parts of the program, at any time in its first seconds.
	d.Hide(`"type":"plugin.added"`)
	switch s := d.Scenario; {
	case err != nil:
		return nil, err
	case len(s.Tools) > 0:
		return nil, c.Error("offers tools of the client")
	case len(s.Hooks) > 0:
		return nil, c.Error("calls hooks of the client")
	case s.Policy != nil:
		c.cfg.rules = []rule{{"*", "*", "ask"}}
	}
	return c, nil
}

// Open implements drive.Client.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	conn := c.cfg.Connection(c.d.Model.URL())
	if err := conn.WriteHome(wire.Getenv(c.d.Env, "HOME")); err != nil {
		return err
	}
	session, err := drive.SessionOf(s, c.sessions, c.session)
	switch {
	case err != nil:
		return err
	case s.At != "":
		return c.Error("copies a session up to a message of another process")
	case s.What != "" && s.What != "bare" && s.What != "resume" && s.What != "fork":
		return c.Error("restores a session from an archive")
	}
	c.calls, c.open, c.busy, c.ready, c.stream, c.compacts = map[string]*call{}, nil, false, false, false, false
	for _, m := range c.sent {
		m.ended = true
	}
	for id := range c.replies {
		c.replies[id] = true
	}
	c.model, c.plans = c.d.Scenario.OpenModel("opencode", c.d.Version), c.d.Scenario.InitialMode() == "plan"
	if err := c.d.Spawn(slices.Concat([]string{"serve", "--hostname", "127.0.0.1", "--port", "0"}, conn.Args, s.Args), conn.Env); err != nil || s.What == "bare" {
		return err
	}
	if err := c.d.Until("the server to listen", func() bool { return c.ready }); err != nil {
		return err
	}
	if _, err := c.post("GET", "/event", nil); err != nil {
		return err
	}
	if err := c.d.Until("the stream of events", func() bool { return c.stream }); err != nil {
		return err
	}
	return c.openSession(s.What, session)
}

// openSession opens a session with the rules of the scenario's mode.
func (c *client) openSession(what, session string) error {
	rules := map[string]any{"permission": c.cfg.rules}
	if what == "" {
		// A session without a title makes another request to the model.
		rules["title"] = "Three rivers"
		if err := c.request("POST", "/session", rules); err != nil {
			return err
		}
		return c.d.Until("the event of the new session", func() bool { return c.created[c.session] })
	}
	path := "/session/" + url.PathEscape(session)
	if what == "fork" {
		if err := c.request("POST", path+"/fork", map[string]any{}); err != nil {
			return err
		}
		path = "/session/" + c.session
	} else if err := c.request("GET", path, nil); err != nil {
		return err
	}
	err := c.request("PATCH", path, rules)
	return err
}

// request writes a request and waits for its reply.
func (c *client) request(method, path string, body any) error {
	sent, err := c.post(method, path, body)
	if err != nil {
		return err
	}
	if err := c.d.Until("the reply to "+method+" "+path, func() bool { return sent.done }); err != nil {
		return err
	}
	return sent.err
}

func (c *client) post(method, path string, body any) (*call, error) {
	c.nextID++
	members := ""
	if body != nil {
		b, err := json.Marshal(body, json.Deterministic(true))
		if err != nil {
			return nil, err
		}
		members = `,"body":` + string(b)
	}
	sent := &call{}
	c.calls[strconv.Itoa(c.nextID)] = sent
	return sent, c.d.Write(jsontext.Value(fmt.Sprintf(`{"id":%d,"method":%q,"path":%s%s}`, c.nextID, method, wire.Quote(path), members)))
}

// sessionPath is the path of a request about the session.
func (c *client) sessionPath(operation string) string { return "/session/" + c.session + operation }

type part struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitzero"`
	MIME     string  `json:"mime,omitempty"`
	Filename string  `json:"filename,omitempty"`
	URL      string  `json:"url,omitempty"`
}

// Send implements drive.Client. The running turn takes what is sent during it when the reply
// of the model has ended.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	if s.What != "" {
		return c.Error("sends a message with a priority")
	}
	parts := []part{}
	if s.Text != "" || len(s.Files) == 0 { // files need no words
		parts = append(parts, part{Type: "text", Text: &s.Text})
	}
	for _, name := range s.Files {
		b, err := c.d.ReadFile(name)
		if err != nil {
			return err
		}
		p := part{Type: "file", MIME: fixtures.MIME(name), Filename: name, URL: "data:" + fixtures.MIME(name) + ";base64," + base64.StdEncoding.EncodeToString(b)}
		if s.ByPath {
			p.URL = "file://" + c.d.Path(name)
		}
		parts = append(parts, p)
	}
	body := map[string]any{"parts": parts}
	if c.plans {
		body["agent"] = "plan"
	}
	if c.model != "" {
		provider, id := modelRef(c.model)
		body["model"] = map[string]string{"providerID": provider, "modelID": id}
	}
	if effort := c.d.Scenario.Opening.Effort; effort != "" {
		body["variant"] = effort
	}
	if text := c.d.Scenario.Opening.Instructions; text != "" {
		body["system"] = text
	}
	if c.d.Scenario.Schema != nil {
		body["format"] = map[string]any{"type": "json_schema", "schema": c.d.Scenario.Schema}
	}
	m := &message{id: s.ID}
	c.sent = append(c.sent, m)
	err := c.request("POST", c.sessionPath("/prompt_async"), body)
	if err != nil {
		m.ended = true
	}
	return err
}

// Aside implements drive.Client. The second session has no parent, so that it is no
// sub-agent.
func (c *client) Aside(_ context.Context, id, text string) error {
	if c.aside == "" {
		sent, err := c.post("POST", "/session", map[string]any{"permission": c.cfg.rules, "title": "Two rivers"})
		if err != nil {
			return err
		}
		sent.aside = true
		if err := c.d.Until("the event of the second session", func() bool { return sent.done && c.created[c.aside] }); err != nil {
			return err
		}
		if sent.err != nil {
			return sent.err
		}
	}
	c.asides = append(c.asides, &message{id: id})
	return c.request("POST", "/session/"+c.aside+"/prompt_async", map[string]any{"parts": []part{{Type: "text", Text: &text}}})
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.SetModel: c.set,
		op.SetMode:  c.set,
		op.Revert:   c.revert,
		op.Compact:  c.compact,
		op.Rename:   c.rename,
		op.List:     c.list,
	}
}

// Stop implements drive.Client. It waits for the turn of a message that was sent, because
// an idle session ignores an abort.
func (c *client) Stop(context.Context) error {
	if err := c.d.Until("the turn to begin that is to be stopped", func() bool { return c.busy || !c.awaited() }); err != nil {
		return err
	}
	err := c.request("POST", c.sessionPath("/abort"), nil)
	return err
}

// expects reports whether a message has come to no turn yet.
func (c *client) expects() bool {
	return slices.ContainsFunc(c.sent, func(m *message) bool { return !m.taken && !m.ended })
}

// awaited reports whether the turn of a message has not ended.
func (c *client) awaited() bool {
	return c.compacts || slices.ContainsFunc(c.sent, func(m *message) bool { return !m.ended })
}

// set changes the model of the next message, or the rules of the session.
func (c *client) set(_ context.Context, s fixtures.Step) error {
	if s.What == "model" {
		c.model = s.ValueFor("opencode", c.d.Version)
		return nil
	}
	mode := s.ValueFor("opencode", c.d.Version)
	asked, ok := askedTools[mode]
	rules := rulesFor(asked)
	if !ok { // the words of a rule are the modes that the runtime itself has
		rules = []rule{{"*", "*", mode}}
	}
	c.plans = mode == "plan"
	err := c.request("PATCH", c.sessionPath(""), map[string]any{"permission": rules})
	return drive.CheckRefusal(err, s.Refused)
}

// compact returns when the work has begun: the reply comes after the work, which a scenario
// may wait for or stop.
func (c *client) compact(context.Context, fixtures.Step) error {
	provider, id := modelRef(models[0])
	c.compacts = true
	sent, err := c.post("POST", c.sessionPath("/summarize"), map[string]string{"providerID": provider, "modelID": id})
	if err != nil {
		return err
	}
	if err := c.d.Until("the compaction to begin", func() bool { return c.busy || sent.done }); err != nil {
		return err
	}
	return sent.err
}

func (c *client) rename(_ context.Context, s fixtures.Step) error {
	err := c.request("PATCH", c.sessionPath(""), map[string]string{"title": s.Text})
	return err
}

func (c *client) list(_ context.Context, s fixtures.Step) error {
	path := map[string]string{"models": "/config/providers", "commands": "/command", "mcp": "/mcp", "sessions": "/session"}[s.What]
	if path == "" {
		return c.Error("lists " + s.What)
	}
	return c.request("GET", path, nil)
}

func (c *client) revert(_ context.Context, s fixtures.Step) error {
	target := "msg_000000000000aaaaaaaaaaaaaa" // of a message that there is not
	for _, m := range c.sent {
		if m.id == s.ID && m.wire != "" {
			target = m.wire
		}
	}
	err := c.request("POST", c.sessionPath("/revert"), map[string]string{"messageID": target})
	return err
}

// Raw implements drive.Client.
func (c *client) Raw(_ context.Context, s fixtures.Step) error {
	return c.d.WriteRequest(drive.RawRequests{}, strings.ReplaceAll(s.Text, "SESSION", c.session))
}
