// Package chat drives a model that offers chat completions over HTTP, for the recorder.
//
// The server is the scripted model itself, reached through a relay that carries HTTP as
// lines. The client here is a whole agent without tools of its own: it keeps the history,
// calls the client's tools and those of MCP servers, and sends a failed request again. It starts
// no server: what a call gives is in the scenario.
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/httplines"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wirechat "github.com/turnspec/turnspec/fixtures/wire/chat"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// Runtime is any model that offers chat completions.
var Runtime = &drive.Runtime{
	Wire:     wirechat.Runtime,
	New:      newChat,
	Connect:  connect,
	Launcher: proc.LauncherFunc(launch),
	Options:  []string{"instructions", "replacing instructions", "effort", "max requests"},
}

// baseURL is the variable that names the server, as in OpenAI's own clients.
const baseURL = "OPENAI_BASE_URL"

// launch starts a relay to the server that the environment names.
func launch(_ context.Context, c proc.Command) (proc.Process, error) {
	base := wire.Getenv(c.Env, baseURL)
	if base == "" {
		return nil, errors.New(baseURL + " is not set")
	}
	// A connection of an earlier recording must not be used again: its server has gone.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return (&httplines.Relay{Base: base, Client: client}).Start(), nil
}

// connect returns the address of the scripted model, which a version is a dialect of.
func connect(version, mode string, needs []string, modelURL string) (drive.Connection, error) {
	if mode != "never" && mode != "ask" {
		return drive.Connection{}, fmt.Errorf("mode: chat has no mode %q: write `not on chat: REASON` in the scenario", mode)
	}
	for _, n := range needs {
		switch n {
		case "permission", "few-retries":
		case "no-model":
			modelURL = drive.Nowhere
		default:
			return drive.Connection{}, fmt.Errorf("needs: chat has no configuration for %q: write `not on chat: REASON` in the scenario", n)
		}
	}
	return drive.Connection{Env: []string{baseURL + "=" + modelURL + "/" + version + "/v1", "OPENAI_MODEL=" + model}, Model: model}, nil
}

// model is the model that requests name if the scenario names none.
const model = "scripted"

// client drives one run.
type client struct {
	drive.Unsupported
	d    *drive.Driver
	conn drive.Connection

	model    string
	offered  []offeredTool
	history  []jsontext.Value
	nextID   int
	answered int // the id of the last read that was answered
	request  int // the id of the request that is open, or 0
	reply    reply
	requests int // of the turn whose calls have results
	attempts int
	pause    *time.Timer // before the next attempt
	retries  int

	running string // the message whose turn runs, or ""
	queue   []message
	ended   map[string]bool
	streams bool
	open    []*call // calls of the last reply, with their results
	main    drive.Text
	inputs  map[string]bool
	tools   map[string]bool
	results map[string]bool
}

// message is a message that waits for the end of a turn.
type message struct {
	id   string
	body jsontext.Value
}

func newChat(d *drive.Driver) (drive.Client, error) {
	s := d.Scenario
	conn, err := connect(d.Version, s.InitialMode(), s.Needs, d.Model.URL())
	c := &client{
		Unsupported: "chat", d: d, conn: conn, model: s.OpenModel("chat", d.Version), ended: map[string]bool{},
		inputs: map[string]bool{}, tools: map[string]bool{}, results: map[string]bool{},
	}
	if c.model == "" {
		c.model = conn.Model
	}
	switch {
	case err != nil:
		return nil, err
	case len(s.Hooks) > 0:
		return nil, c.Error("calls hooks of the client")
	case s.Schema != nil:
		return nil, c.Error("wants an answer of a schema")
	}
	c.offered = offeredTools(s)
	return c, nil
}

// Open implements drive.Client.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	if s.What != "" || len(s.Args) > 0 {
		return c.Error("opens a session again")
	}
	return c.d.Spawn(nil, c.conn.Env)
}

// Send implements drive.Client. A message that is sent during a turn waits in the client's
// queue for its end.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	if s.ByPath || s.What != "" {
		return c.Error("sends a message with a priority, or with the path of a picture")
	}
	content, err := c.content(s)
	if err != nil {
		return err
	}
	c.queue = append(c.queue, message{s.ID, object("role", quote("user"), "content", content)})
	return c.takeMessage()
}

// takeMessage begins the turn of the next message if no turn runs.
func (c *client) takeMessage() error {
	if c.running != "" || len(c.queue) == 0 {
		return nil
	}
	m := c.queue[0]
	c.queue = c.queue[1:]
	c.history = append(c.history, m.body)
	c.running, c.attempts, c.requests = m.id, 0, 0
	return c.post()
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.SetModel: c.set,
		op.SetMode:  c.set,
		op.StopAll:  c.stopAll,
		op.Withdraw: c.withdraw,
	}
}

// Stop implements drive.Client.
func (c *client) Stop(context.Context) error {
	if c.running == "" {
		return nil
	}
	if c.request != 0 {
		if err := c.d.Write(jsontext.Value(fmt.Sprintf(`{"id":%d,"abort":true}`, c.request))); err != nil {
			return err
		}
		c.keepPartial()
	}
	for _, k := range c.open {
		if k.result == nil {
			c.d.DropCall(k.ID)
			c.setResult(k, "The user stopped the turn.")
		}
	}
	c.appendResults()
	c.endTurn()
	return nil
}

func (c *client) stopAll(ctx context.Context, _ fixtures.Step) error {
	for _, m := range c.queue {
		c.ended[m.id] = true
	}
	c.queue = nil
	return c.Stop(ctx)
}

func (c *client) withdraw(_ context.Context, s fixtures.Step) error {
	i := slices.IndexFunc(c.queue, func(m message) bool { return m.id == s.ID })
	if i < 0 {
		return drive.Refusef("no message %s waits", s.ID)
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	c.ended[s.ID] = true
	return nil
}

// Reads implements drive.Client.
func (c *client) Reads() []drive.Read {
	return []drive.Read{{Method: http.MethodGet + " /models"}, {Method: http.MethodGet + " /unknown"}}
}

// Request implements drive.Client.
func (c *client) Request(r drive.Read) error {
	method, path, _ := strings.Cut(r.Method, " ")
	c.nextID++
	id := c.nextID
	if err := c.d.Write(object("id", strconv.Itoa(id), "method", quote(method), "path", quote(path))); err != nil {
		return err
	}
	return c.d.Until("the reply to "+r.Method, func() bool { return c.answered >= id })
}

// Fence implements drive.Client.
func (c *client) Fence() error { return c.Request(c.Reads()[0]) }

func (c *client) set(_ context.Context, s fixtures.Step) error {
	if s.What != "model" {
		return c.Error("changes the permission mode")
	}
	if s.Refused {
		return c.Error("refuses a model before it is asked")
	}
	c.model = s.ValueFor("chat", c.d.Version)
	return nil
}

// endTurn ends the running turn.
func (c *client) endTurn() {
	if c.pause != nil {
		c.pause.Stop()
		c.pause = nil
	}
	c.ended[c.running] = true
	c.running, c.request, c.streams, c.open, c.reply = "", 0, false, nil, reply{}
	c.d.Fail(c.takeMessage())
}

// Asks implements drive.Client. The client itself asks, before it calls a tool.
func (c *client) Asks(tool string) bool { return c.asked(tool) != nil }

// asked returns the first call of these that waits for an answer; nil if none does.
func (c *client) asked(tool string) *call {
	i := slices.IndexFunc(c.open, func(k *call) bool { return k.asks && (tool == "" || c.d.Runtime.Wire.ScenarioCall(k.ID) == tool) })
	if i < 0 {
		return nil
	}
	return c.open[i]
}

// Answer implements drive.Client.
func (c *client) Answer(ctx context.Context, s fixtures.Step) error {
	k := c.asked(s.ID)
	if k == nil {
		return errors.New("there is no such question to answer: `wait ask` first")
	}
	k.asks = false
	switch s.What {
	case fixtures.AnswerAllow:
		if s.Value != nil {
			k.args = string(s.Value)
		}
		c.run(k)
		return nil
	case fixtures.AnswerDeny:
		c.setResult(k, cmp.Or(s.Text, "The user denied the call."))
		return c.goOn()
	case fixtures.AnswerCancel:
		return c.Stop(ctx)
	}
	return c.Error("answers a question with " + s.What)
}

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.tools[id] }

// ShowsInput implements drive.Client.
func (c *client) ShowsInput(id string) bool { return c.inputs[id] }

// ShowsOutput implements drive.Client.
func (c *client) ShowsOutput(string) bool { return false }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.results[id] }

// TaskEnded implements drive.Client.
func (c *client) TaskEnded(string) bool { return false }

// Settled implements drive.Client.
func (c *client) Settled(holding bool) bool { return holding || c.request == 0 }

// Streams implements drive.Client.
func (c *client) Streams() bool { return c.streams }

// Ended implements drive.Client.
func (c *client) Ended(id string) bool { return c.ended[id] }

// Idle implements drive.Client.
func (c *client) Idle() bool { return c.running == "" }

// Retries implements drive.Client.
func (c *client) Retries() bool { return c.retries > 0 }

// Texts implements drive.Client.
func (c *client) Texts() []*drive.Text { return []*drive.Text{&c.main} }
