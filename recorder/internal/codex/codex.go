// Package codex drives `codex app-server` for the recorder.
package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/fixtures/wire"
	wirecodex "github.com/turnspec/turnspec/fixtures/wire/codex"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Runtime is `codex app-server`.
var Runtime = &drive.Runtime{
	Wire:       wirecodex.Runtime,
	New:        newCodex,
	Connect:    Connect,
	SettingsOf: SettingsOf,
	ReadSchema: readSchema,
	VersionIn:  regexp.MustCompile(`"(?:cliVersion"\s*:\s*"|userAgent"\s*:\s*"[^"/]*/)([0-9][0-9A-Za-z.-]*)`),
	Options:    []string{"instructions", "replacing instructions", "effort", "extra dirs"},
	Aliases:    []string{"codex"},
}

// client drives one run.
type client struct {
	drive.Unsupported
	d   *drive.Driver
	cfg Config

	nextID int
	calls  map[int]*call // open requests by id
	thread string        // of the session
	turn   string        // the running turn, "" or starting
	begun  map[string]bool
	ended  map[string]bool // turns that have ended
	seen   map[string]bool // the methods of notifications since the process started
	retry  bool            // an error was reported that will be retried

	sent     []*message
	tools    map[string]*toolCall
	open     []question
	stale    []question      // those whose turn has ended
	resolved map[string]bool // the ids of requests that the server reports as resolved
	next     settings        // what the next turn changes
	texts    map[string]*drive.Text
	agents   map[string]*agent // by thread
	past     past
	servers  map[string]bool // MCP servers that have started or failed

	aside      string            // a second thread, see Aside
	asideTurns map[string]string // the turn of each message there
	asideEnded map[string]bool
	side       string // a thread that Request has started
}

// starting is client.turn between the request of a turn and its id.
const starting = "starting"

// message is a user message. The reply to it names a turn, but the turn that it
// runs in is the one that shows it: older versions put it into the running turn
// and reply with the id of a turn that never begins.
type message struct {
	id, text string
	turn     string // that the reply named, or that took it
	during   string // the turn that ran when it was sent
	taken    bool
}

// agent is a sub-agent: a thread that the client did not open.
type agent struct {
	turn  string // the running turn, or the last one
	ended bool
}

// toolCall is the item of a tool call. A command may outlive its turn; any other
// item ends with it.
type toolCall struct {
	turn            string
	agent           string // the thread of the sub-agent that the call started
	process         string // of a command
	command, closed bool
	output          bool // was streamed
	completed       bool // a line has reported the end
}

// call is a request of the client.
type call struct {
	done   bool
	then   func(result jsontext.Value) // called with the result, if there is one
	result jsontext.Value
	err    *rpcError
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func newCodex(d *drive.Driver) (drive.Client, error) {
	cfg, err := ConfigFor(d.Version, d.Scenario.InitialMode(), d.Scenario.Needs)
	if d.Scenario.Policy != nil && cfg.sandbox != "" {
		cfg.policy = "untrusted" // asks about most
	}
	return &client{
		Unsupported: "codex", d: d, cfg: cfg, begun: map[string]bool{}, ended: map[string]bool{},
		tools: map[string]*toolCall{}, texts: map[string]*drive.Text{}, agents: map[string]*agent{}, servers: map[string]bool{},
		asideTurns: map[string]string{}, asideEnded: map[string]bool{},
	}, err
}

// startProcess starts the process and does the handshake.
func (c *client) startProcess(s fixtures.Step) error {
	args := append([]string{"app-server"}, c.cfg.connection(c.d.Model.URL()).Args...)
	args = append(append(args, ServerArgs(c.d.Scenario)...), OptionArgs(c.d)...)
	c.nextID, c.calls, c.turn, c.open, c.stale, c.seen = 0, map[int]*call{}, "", nil, nil, map[string]bool{}
	c.resolved, c.next = map[string]bool{}, settings{}
	c.endProcess()
	if err := c.d.Spawn(append(args, s.Args...), nil); err != nil || s.What == "bare" {
		return err
	}
	type info struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	type capabilities struct {
		ExperimentalAPI bool `json:"experimentalApi"`
	}
	if _, err := c.requestRPC("initialize", struct {
		ClientInfo   info         `json:"clientInfo"`
		Capabilities capabilities `json:"capabilities"`
	}{info{"turnspec", "Turnspec", "1"}, capabilities{true}}); err != nil {
		return err
	}
	if err := c.waitSeen(c.cfg.lastGreeting(wire.Getenv(c.d.Env, "PATH"))); err != nil {
		return err
	}
	return c.d.Write(struct {
		Method string `json:"method"`
	}{"initialized"})
}

type input struct {
	Type string  `json:"type"`
	Text *string `json:"text,omitzero"` // of a text, even an empty one
	Path string  `json:"path,omitempty"`
}

type turnParams struct {
	ThreadID            string  `json:"threadId"`
	ExpectedTurnID      string  `json:"expectedTurnId,omitempty"`
	Input               []input `json:"input"`
	ClientUserMessageID string  `json:"clientUserMessageId"`
	settings

	OutputSchema jsontext.Value `json:"outputSchema,omitempty"`
}

// Send implements drive.Client. It starts a turn; if one runs already, the runtime
// puts the message into that one and names it in the reply.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	if s.What != "" {
		return c.Error("gives a message a priority")
	}
	m := &message{id: s.ID, text: s.Text, during: c.turn}
	c.sent = append(c.sent, m)
	if c.turn == "" {
		c.turn = starting
	}
	parts := []input{{Type: "text", Text: &s.Text}}
	for _, f := range s.Files {
		parts = append(parts, input{Type: "localImage", Path: c.d.Path(f)})
	}
	return c.startTurn(turnParams{
		ThreadID: c.thread, Input: parts, ClientUserMessageID: s.ID, OutputSchema: c.d.Scenario.Schema, settings: c.turnSettings(),
	}, func(turn string) {
		if !m.taken {
			m.turn = turn
		}
		if c.turn == starting {
			c.turn = m.turn
		}
		c.past.addTurn(turn)
	})
}

// startTurn sends turn/start and calls then with the turn that the reply names.
func (c *client) startTurn(p turnParams, then func(turn string)) error {
	r, err := c.post("turn/start", p, func(result jsontext.Value) {
		var v struct {
			Turn struct {
				ID string `json:"id"`
			} `json:"turn"`
		}
		if err := wire.Decode(result, &v); err != nil || v.Turn.ID == "" {
			c.d.Fail(fmt.Errorf("turn/start: the result names no turn: %.200s", result))
			return
		}
		then(v.Turn.ID)
	})
	if err != nil {
		return err
	}
	return c.waitReply("turn/start", r)
}

func (c *client) steer(_ context.Context, s fixtures.Step) error {
	if c.turn == "" {
		return errors.New("no turn runs")
	}
	c.sent = append(c.sent, &message{id: s.ID, text: s.Text, turn: c.turn, during: c.turn})
	_, err := c.requestRPC("turn/steer", turnParams{ThreadID: c.thread, ExpectedTurnID: c.turn, Input: []input{{Type: "text", Text: &s.Text}}, ClientUserMessageID: s.ID})
	return err
}

type turnRef struct {
	ThreadID string `json:"threadId"`
	TurnID   string `json:"turnId"`
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.Steer:    c.steer,
		op.SetModel: c.set,
		op.SetMode:  c.set,
		op.StopTask: c.stopTask,
		op.Revert:   c.revert,
		op.Compact:  c.compact,
		op.Archive:  c.archive,
		op.Rename:   c.rename,
		op.List:     c.list,
	}
}

// Stop implements drive.Client.
func (c *client) Stop(context.Context) error {
	if err := c.d.Until("a turn to stop", func() bool {
		return c.turn != "" && c.turn != starting && (c.begun[c.turn] || c.d.Holding()) // older versions do not report the turn of a summary
	}); err != nil {
		return err
	}
	turn := c.turn
	if c.past.begunAs != "" {
		turn = c.past.begunAs
	}
	_, err := c.requestRPC("turn/interrupt", turnRef{c.thread, turn})
	return err
}

// stopTask interrupts the turn of a sub-agent, or ends
// a command.
func (c *client) stopTask(_ context.Context, s fixtures.Step) error {
	t := c.tools[s.ID]
	switch {
	case t == nil:
		return fmt.Errorf("the wire shows no tool %s", s.ID)
	case t.agent != "":
		a := c.agentOf(t.agent)
		if err := c.d.Until("a turn of the sub-agent to stop", func() bool { return a.turn != "" }); err != nil {
			return err
		}
		_, err := c.requestRPC("turn/interrupt", turnRef{t.agent, a.turn})
		return err
	case t.process == "":
		return fmt.Errorf("tool %s has no process", s.ID)
	}
	_, err := c.requestRPC("thread/backgroundTerminals/terminate", struct {
		ThreadID  string `json:"threadId"`
		ProcessID string `json:"processId"`
	}{c.thread, t.process})
	return err
}

// Aside implements drive.Client. The lines of the second thread are not those
// of a sub-agent.
func (c *client) Aside(_ context.Context, id, text string) error {
	if c.aside == "" {
		var err error
		if c.aside, err = c.openThread("thread/start", threadParams{Cwd: c.d.Work, ApprovalPolicy: c.cfg.policy, Sandbox: c.cfg.sandbox}); err != nil {
			return err
		}
	}
	c.asideTurns[id] = ""
	return c.startTurn(turnParams{ThreadID: c.aside, Input: []input{{Type: "text", Text: &text}}, ClientUserMessageID: id},
		func(turn string) { c.asideTurns[id] = turn })
}

// requestRPC sends a request and waits for its reply.
func (c *client) requestRPC(method string, params any) (jsontext.Value, error) {
	r, err := c.post(method, params, nil)
	if err != nil {
		return nil, err
	}
	err = c.waitReply(method, r)
	return r.result, err
}

func (c *client) waitReply(method string, r *call) error {
	if err := c.d.Until("the reply to "+method, func() bool { return r.done }); err != nil {
		return err
	}
	if r.err != nil {
		return drive.Refusef("%s: the runtime refused: error %d: %s", method, r.err.Code, r.err.Message)
	}
	return nil
}

func (c *client) post(method string, params any, then func(jsontext.Value)) (*call, error) {
	c.nextID++
	r := &call{then: then}
	c.calls[c.nextID] = r
	return r, c.d.Write(struct {
		ID     int    `json:"id"`
		Method string `json:"method"`
		Params any    `json:"params"`
	}{c.nextID, method, params})
}

// waitSeen waits for a notification. If method is "", it does nothing.
func (c *client) waitSeen(method string) error {
	if method == "" {
		return nil
	}
	return c.d.Until(method, func() bool { return c.seen[method] })
}

// requestSeen sends a request and waits for its reply and for the notification
// that follows it.
func (c *client) requestSeen(method string, params any, then string) error {
	delete(c.seen, then)
	if _, err := c.requestRPC(method, params); err != nil {
		return err
	}
	return c.waitSeen(then)
}

// readSchema reads the JSON schema that the program generates.
func readSchema(ctx context.Context, rt runtimes.Runtime, tmp string) (*schema.Schema, error) {
	env := []string{"HOME=" + tmp, "CODEX_HOME=" + tmp}
	generate := []string{"app-server", "generate-json-schema", "--out", tmp}
	if _, err := drive.Output(ctx, env, rt.Binary, append(generate, "--experimental")...); err != nil {
		// Older versions have no such option and write everything.
		if _, err := drive.Output(ctx, env, rt.Binary, generate...); err != nil {
			return nil, err
		}
	}
	s := &schema.Schema{Types: map[string]schema.Type{}}
	for _, f := range []struct{ kind, name string }{
		{schema.Notification, "ServerNotification.json"}, {schema.ServerRequest, "ServerRequest.json"}, {schema.Request, "ClientRequest.json"},
	} {
		b, err := os.ReadFile(filepath.Join(tmp, f.name))
		if err != nil {
			return nil, err
		}
		if err := s.AddJSONSchema(f.kind, b); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return s, nil
}
