// Package acp drives an agent of the Agent Client Protocol for the recorder. The agents are
// programs that drive another runtime, as codex-acp drives Codex and claude-agent-acp drives
// Claude Code, or a runtime itself: opencode.
package acp

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wireacp "github.com/turnspec/turnspec/fixtures/wire/acp"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// Runtime is an agent of the Agent Client Protocol.
var Runtime = &drive.Runtime{
	Wire:       wireacp.Runtime,
	New:        newClient,
	Connect:    connect,
	ReadSchema: readSchema,
	SessionIn:  regexp.MustCompile(`"method"\s*:\s*"session/update"`),
	Options:    []string{"effort", "extra dirs"},
	// codex-acp asks for a title of the session after its first turn. It ignores a reply that
	// is not JSON, so that no line depends on when the reply comes.
	Aside: "No title.",
}

// client drives one run.
type client struct {
	drive.Unsupported
	d     *drive.Driver
	agent agent

	resolve func(*wire.Line) // completes lines by those before; see wire.Runtime.Resolver

	nextID   int
	calls    map[string]*call
	raw      drive.RawRequests
	open     []question
	stale    []question
	sessions []string // opened, in order
	session  string
	mode     string // in force
	switched bool   // the agent's option for a mode is on

	sent    []*message
	updates int             // of the running turn
	listed  bool            // the agent has listed its commands
	inputs  map[string]bool // tool calls whose input the wire shows
	tools   map[string]bool // tool calls that it shows
	outputs map[string]bool // tool calls of whose output it shows a part
	results map[string]bool // tool calls whose result it shows
	retries bool            // the wire shows that a request to the model will be repeated
	main    drive.Text
}

// message is one that the client has sent.
type message struct {
	id, blocks string
	prompted   bool  // it was sent and does not wait here
	reply      *call // nil if the process that got it has ended
}

func (m *message) ended() bool { return m.reply == nil || m.reply.done }

// call is a request of the client.
type call struct {
	done   bool
	err    error
	result jsontext.Value
}

// question is a request of the agent that the user answers.
type question struct {
	id      jsontext.Value
	method  string
	tool    string
	options []option
	params  jsontext.Value
}

type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}

func newClient(d *drive.Driver) (drive.Client, error) {
	a, err := agentFor(d.Version)
	if err != nil {
		return nil, err
	}
	c := &client{
		Unsupported: "acp", d: d, agent: a,
		inputs: map[string]bool{}, tools: map[string]bool{}, outputs: map[string]bool{}, results: map[string]bool{},
	}
	if _, err := connect(d.Version, d.Scenario.InitialMode(), d.Scenario.Needs, ""); err != nil {
		return nil, err
	}
	switch s := d.Scenario; {
	case len(s.Tools) > 0:
		return nil, c.Error("offers tools of the client")
	case len(s.Hooks) > 0:
		return nil, c.Error("calls hooks of the client")
	case s.Schema != nil:
		return nil, c.Error("takes a schema of the final answer")
	}
	return c, nil
}

// Open implements drive.Client.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	conn, err := connect(c.d.Version, c.d.Scenario.InitialMode(), c.d.Scenario.Needs, c.d.Model.URL())
	if err != nil {
		return err
	}
	if err := conn.WriteHome(wire.Getenv(c.d.Env, "HOME")); err != nil {
		return err
	}
	for _, m := range c.sent {
		m.reply = nil
	}
	c.calls, c.raw, c.open, c.stale, c.mode, c.switched = map[string]*call{}, drive.RawRequests{}, nil, nil, "", false
	c.listed, c.resolve = false, c.d.Runtime.Wire.Resolve()
	if c.agent.unpacks != "" {
		conn.Env = append(slices.Clone(conn.Env), c.agent.unpacks+"="+filepath.Join(filepath.Dir(c.d.Binary), "unpacked"))
	}
	if c.agent.judged != nil && c.d.Scenario.Policy != nil {
		conn.Env = append(slices.Clone(conn.Env), c.agent.judged...)
	}
	if err := c.d.Spawn(append(slices.Clone(conn.Args), s.Args...), conn.Env); err != nil || s.What == "bare" {
		return err
	}
	if _, err := c.request("initialize", `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,"elicitation":{"form":{}}},`+
		`"clientInfo":{"name":"turnspec","version":"1"}}`); err != nil {
		return err
	}
	if err := c.openSession(s); err != nil {
		return err
	}
	if model := c.d.Scenario.OpenModel("acp", c.d.Version); model != "" {
		if err := c.setModel(model); err != nil {
			return err
		}
	}
	if effort := c.d.Scenario.Opening.Effort; effort != "" {
		if _, err := c.request("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":%q,"value":%q}`, c.session, c.agent.effort, effort)); err != nil {
			return err
		}
	}
	return c.setMode(c.d.Scenario.InitialMode(), false)
}

// openSession opens the session that a step names.
func (c *client) openSession(s fixtures.Step) error {
	id, err := drive.SessionOf(s, c.sessions, c.session)
	if err != nil {
		return err
	}
	method, session := "session/new", ""
	switch {
	case s.At != "":
		return c.Error("copies a session up to a message")
	case s.What == "resume":
		method, session = "session/load", fmt.Sprintf(`"sessionId":%q,`, id)
	case s.What == "fork":
		method, session = "session/fork", fmt.Sprintf(`"sessionId":%q,`, id)
	case s.What != "":
		return c.Error("restores a session from an archive")
	}
	v, err := c.request(method, fmt.Sprintf(`{%s"cwd":%q,"mcpServers":%s%s}`, session, c.d.Work, servers(c.d.Scenario), c.folders()))
	if err != nil {
		return err
	}
	var r struct {
		SessionID string `json:"sessionId"`
		Modes     struct {
			Current string `json:"currentModeId"`
		} `json:"modes"`
		Options []struct {
			ID      string         `json:"id"`
			Current jsontext.Value `json:"currentValue"`
		} `json:"configOptions"`
	}
	if err := wire.Decode(v, &r); err != nil {
		return err
	}
	if s.What != "resume" {
		id = r.SessionID
	}
	c.session, c.mode = id, r.Modes.Current
	for _, o := range r.Options { // opencode has its modes there
		if o.ID == "mode" && c.mode == "" {
			c.mode = wire.Unquote(o.Current)
		}
	}
	// A timer sends the list when the session is open, but not every agent lists them for a fork.
	if err := c.d.Until("the list of commands", func() bool { return c.listed || s.What == "fork" && !c.agent.listsForFork }); err != nil {
		return err
	}
	if !slices.Contains(c.sessions, id) {
		c.sessions = append(c.sessions, id)
	}
	return nil
}

// list requests nothing but sessions: the agent has reported its models and commands by itself.
func (c *client) list(_ context.Context, s fixtures.Step) error {
	switch s.What {
	case "models", "commands":
		return nil
	case "sessions":
		_, err := c.request("session/list", fmt.Sprintf(`{"cwd":%q}`, c.d.Work))
		return err
	}
	return c.Error("lists " + s.What)
}

// folders is the member with the further folders of the scenario, after a comma; "" if it has
// none.
func (c *client) folders() string {
	var dirs []string
	for _, dir := range c.d.Scenario.Opening.ExtraDirs {
		dirs = append(dirs, strconv.Quote(c.d.Path(dir)))
	}
	if dirs == nil {
		return ""
	}
	return `,"additionalDirectories":[` + strings.Join(dirs, ",") + "]"
}

// servers are the MCP servers of a scenario, in the form of ACP.
func servers(s *fixtures.Scenario) string {
	var out []string
	for _, m := range s.Servers {
		if m.Remote.Transport != "" {
			out = append(out, fmt.Sprintf(`{"type":%q,"name":%q,"url":%q,"headers":%s}`, m.Remote.Transport, m.Name, fixtures.ServerURL(m.Name), namedValues(m.Remote.Headers)))
			continue
		}
		out = append(out, fmt.Sprintf(`{"name":%q,"command":%q,"args":[],"env":%s}`, m.Name, fixtures.ServerCommand(m.Name), namedValues(m.Env)))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// namedValues are headers or variables, in the form of ACP.
func namedValues(values map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, fmt.Sprintf(`{"name":%q,"value":%q}`, name, values[name]))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// post sends a request.
func (c *client) post(method, params string) (*call, error) {
	id := strconv.Itoa(c.nextID)
	c.nextID++
	sent := &call{}
	c.calls[id] = sent
	return sent, c.d.Write(jsontext.Value(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)))
}

// request sends a request and waits for its reply.
func (c *client) request(method, params string) (jsontext.Value, error) {
	sent, err := c.post(method, params)
	if err != nil {
		return nil, err
	}
	if err := c.d.Until("the reply to "+method, func() bool { return sent.done }); err != nil {
		return nil, err
	}
	return sent.result, sent.err
}

// Send implements drive.Client. The protocol has no queue, so a message waits here for the
// end of the turn.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	if s.What != "" {
		return c.Error("sends a message with a priority")
	}
	blocks := []string{fmt.Sprintf(`{"type":"text","text":%s}`, wire.Quote(s.Text))}
	for _, name := range s.Files {
		b, err := c.attachment(name, s.ByPath)
		if err != nil {
			return err
		}
		blocks = append(blocks, b)
	}
	m := &message{id: s.ID, blocks: strings.Join(blocks, ","), reply: &call{}}
	c.sent = append(c.sent, m)
	if slices.ContainsFunc(c.sent, func(x *message) bool { return x != m && !x.ended() }) {
		return nil
	}
	return c.prompt(m)
}

// prompt sends a message.
func (c *client) prompt(m *message) (err error) {
	c.updates, m.prompted = 0, true
	m.reply, err = c.post("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[%s]}`, c.session, m.blocks))
	return err
}

// attachment is an attached file: a picture with its bytes, any other file as a resource.
func (c *client) attachment(name string, byPath bool) (string, error) {
	if byPath {
		return "", c.Error("sends a picture by its path")
	}
	b, err := c.d.ReadFile(name)
	if err != nil {
		return "", err
	}
	mime := fixtures.MIME(name)
	if strings.HasPrefix(mime, "image/") {
		return fmt.Sprintf(`{"type":"image","mimeType":%q,"data":%q}`, mime, base64.StdEncoding.EncodeToString(b)), nil
	}
	return fmt.Sprintf(`{"type":"resource","resource":{"uri":%q,"mimeType":%q,"text":%s}}`, "file://"+c.d.Path(name), mime, wire.Quote(string(b))), nil
}

// running is the message whose turn runs, or nil.
func (c *client) running() *message {
	i := slices.IndexFunc(c.sent, func(m *message) bool { return m.prompted && !m.ended() })
	if i < 0 {
		return nil
	}
	return c.sent[i]
}

func (c *client) turnsEnded() bool {
	return !slices.ContainsFunc(c.sent, func(m *message) bool { return !m.ended() })
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.SetModel: c.set,
		op.SetMode:  c.set,
		op.List:     c.list,
	}
}

// Stop implements drive.Client. It waits for the turn to show itself, because an agent may
// miss a stop that comes earlier. A client must answer the questions of a turn that it
// stops.
func (c *client) Stop(context.Context) error {
	if err := c.d.Until("the turn to begin that is to be stopped", func() bool { return c.updates > 0 || len(c.open) > 0 || c.turnsEnded() }); err != nil {
		return err
	}
	if err := c.d.Write(jsontext.Value(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, c.session))); err != nil {
		return err
	}
	for _, q := range c.open {
		if err := c.writeResult(q.id, cancelled(q.method)); err != nil {
			return err
		}
	}
	c.open = nil
	running := c.running()
	return c.d.Until("the end of the stopped turn", func() bool { return running == nil || running.ended() })
}

func (c *client) set(_ context.Context, s fixtures.Step) error {
	if s.What == "model" {
		return drive.CheckRefusal(c.setModel(s.ValueFor("acp", c.d.Version)), s.Refused)
	}
	return drive.CheckRefusal(c.setMode(s.ValueFor("acp", c.d.Version), s.Refused), s.Refused)
}

// setMode sets the mode of the agent for a mode of scenarios; with unknown, a mode that no agent
// has is sent as it is. For some modes agents have an option.
func (c *client) setMode(mode string, unknown bool) error {
	id, ok := c.agent.modes[mode]
	if opened := c.d.Scenario.InitialMode(); c.agent.configured && ok && mode != "plan" && mode != opened {
		return c.Error("asks for other calls while it runs")
	}
	if !ok {
		if id = mode; !unknown {
			return c.Error("sets the mode " + mode)
		}
	}
	if o := c.agent.option; o.id != "" && (ok || !unknown) && (mode == o.mode) != c.switched {
		value := o.off
		if mode == o.mode {
			value = o.on
		}
		if _, err := c.request("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":%q,"value":%q}`, c.session, o.id, value)); err != nil {
			return err
		}
		c.switched = mode == o.mode
	}
	if id == c.mode || id == "" {
		return nil
	}
	_, err := c.request("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":%q}`, c.session, id))
	if err == nil {
		c.mode = id
	}
	return err
}

func (c *client) setModel(model string) error {
	_, err := c.request("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"model","value":%q}`, c.session, model))
	return err
}

// Raw implements drive.Client.
func (c *client) Raw(_ context.Context, s fixtures.Step) error {
	return c.d.WriteRequest(c.raw, strings.ReplaceAll(s.Text, "SESSION", c.session))
}
