// Package opencoderun drives `opencode run --format json` for the recorder. Each message
// starts a process, which reads the message from stdin and exits after its turn. The runtime
// asks for no permission, and a stop is a signal.
package opencoderun

import (
	"context"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wirerun "github.com/turnspec/turnspec/fixtures/wire/opencoderun"
	"github.com/turnspec/turnspec/recorder/internal/drive"
	"github.com/turnspec/turnspec/recorder/internal/opencode"
)

// Runtime is `opencode run --format json`.
var Runtime = &drive.Runtime{
	Wire:           wirerun.Runtime,
	New:            newOpenCodeRun,
	Connect:        opencode.Connect,
	ProcessPerTurn: true,
	Options:        []string{"effort"},
	Deadline:       3 * time.Minute, // it repeats a request without a valid key for a minute and a half
}

const name = "opencoderun"

// client drives one run.
type client struct {
	drive.PerMessage
	d        *drive.Driver
	cfg      opencode.Config
	model    string // of the next process; "": the default
	plans    bool   // the next process is for the agent that plans
	sessions []string
	session  string
	results  map[string]bool // of tool calls, that the wire shows
	steps    bool            // the wire shows a step of the model that has not ended
	begun    bool            // the process has begun its turn
}

func newOpenCodeRun(d *drive.Driver) (drive.Client, error) {
	cfg, err := opencode.ConfigFor(d.Scenario.InitialMode(), d.Scenario.Needs)
	cfg.Servers = d.Scenario.Servers
	c := &client{
		d: d, cfg: cfg, model: d.Scenario.OpenModel(name, d.Version), plans: d.Scenario.InitialMode() == "plan",
		results: map[string]bool{},
	}
	c.PerMessage = drive.PerMessage{Unsupported: name, Driver: d, Start: c.start}
	return c, err
}

// Open implements drive.Client. It starts nothing: the next message does.
func (c *client) Open(_ context.Context, s fixtures.Step) (err error) {
	if s.What == "" {
		c.session = ""
		return nil
	}
	c.session, err = drive.SessionOf(s, c.sessions, c.session)
	return err
}

// start starts the process of a message.
func (c *client) start(s fixtures.Step) error {
	conn := c.cfg.Connection(c.d.Model.URL())
	if err := conn.WriteHome(wire.Getenv(c.d.Env, "HOME")); err != nil {
		return err
	}
	// A session without a title makes another request to the model.
	args := []string{"run", "--format", "json", "--thinking", "--title", "Three rivers", allowAll(c.d.Version)}
	if c.model != "" {
		args = append(args, "--model", opencode.ModelName(c.model))
	}
	if effort := c.d.Scenario.Opening.Effort; effort != "" {
		args = append(args, "--variant", effort)
	}
	if c.plans {
		args = append(args, "--agent", "plan")
	}
	if c.session != "" {
		args = append(args, "--session", c.session)
	}
	for _, f := range s.Files {
		args = append(args, "--file", c.d.Path(f))
	}
	c.steps, c.begun = false, false
	return c.Spawn(s, append(args, conn.Args...), conn.Env)
}

// allowAll is the option that allows what would be asked for.
func allowAll(version string) string {
	if wire.CompareVersions(version, "1.18.0") < 0 {
		return "--dangerously-skip-permissions"
	}
	return "--auto"
}

// set sets the model or the mode of the next process.
func (c *client) set(_ context.Context, s fixtures.Step) error {
	switch value := s.ValueFor(name, c.d.Version); {
	case s.What == "model":
		c.model = value
	case value == "plan" || value == "never":
		c.plans = value == "plan"
	default:
		return c.Error("changes the mode to " + value)
	}
	return nil
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.SetModel: c.set,
		op.SetMode:  c.set,
	}
}

// Stop implements drive.Client. A process that has not begun its turn has no session yet.
func (c *client) Stop(context.Context) error {
	if !c.d.Alive() {
		return nil
	}
	if err := c.d.Until("the start of the turn", func() bool { return c.begun }); err != nil {
		return err
	}
	return c.d.Signal(proc.SIGTERM)
}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	l := c.d.Runtime.Wire.ReadOutput(b)
	if l.Opened != "" && l.Opened != c.session {
		c.session = l.Opened
		if !slices.Contains(c.sessions, c.session) {
			c.sessions = append(c.sessions, c.session)
		}
	}
	for _, t := range l.Tools {
		if t.Ends {
			c.results[c.d.Runtime.Wire.ScenarioCall(t.ID)] = true
		}
	}
	switch l.Name {
	case "step_start":
		c.steps, c.begun = true, true
	case "step_finish", "error":
		c.steps = false
	}
}

// ShowsTool implements drive.Client. The wire never shows that a tool runs: the scenario waits
// for a file that it makes.
func (c *client) ShowsTool(string) bool { return true }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.results[id] }

// Streams implements drive.Client.
func (c *client) Streams() bool { return c.steps }

// Retries implements drive.Client.
func (c *client) Retries() bool { return false }
