// Package codexexec drives `codex exec --json` for the recorder. Each message
// starts a process, which reads the message from stdin and exits after its turn.
// The runtime cannot ask, and a stop is a signal.
package codexexec

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	wireexec "github.com/turnspec/turnspec/fixtures/wire/codexexec"
	"github.com/turnspec/turnspec/recorder/internal/codex"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// Runtime is `codex exec --json`.
var Runtime = &drive.Runtime{
	Wire:           wireexec.Runtime,
	New:            newCodexExec,
	Connect:        codex.Connect,
	SettingsOf:     codex.SettingsOf,
	ProcessPerTurn: true,
	Options:        []string{"instructions", "replacing instructions", "effort"},
}

const name = "codexexec"

// client drives one run.
type client struct {
	drive.PerMessage
	d       *drive.Driver
	cfg     codex.Config
	model   string // of the next process; "": the default
	sandbox string // of the next process
	thread  string
	calls   calls
	begun   bool // that process has begun its turn
	retries bool // it has announced another request to the model
}

func newCodexExec(d *drive.Driver) (drive.Client, error) {
	cfg, err := codex.ConfigFor(d.Version, d.Scenario.InitialMode(), d.Scenario.Needs)
	c := &client{
		d: d, cfg: cfg, model: d.Scenario.OpenModel(name, d.Version), sandbox: cfg.Sandbox(), calls: callsOf(d.Scenario, d.Version),
	}
	c.PerMessage = drive.PerMessage{Unsupported: name, Driver: d, Start: c.start}
	return c, err
}

// Open implements drive.Client. It starts nothing: the first message does.
func (c *client) Open(_ context.Context, s fixtures.Step) error {
	switch {
	case s.What == "fork":
		return c.Error("forks a session")
	case (s.What == "resume") != (c.thread != ""):
		return errors.New("codex exec continues its session with each message: remove the open")
	}
	return nil
}

// start starts the process of a message.
func (c *client) start(s fixtures.Step) error {
	args := append([]string{"exec", "--json"}, c.cfg.Args(c.d.Model.URL())...)
	args = append(append(args, codex.ServerArgs(c.d.Scenario)...), codex.OptionArgs(c.d)...)
	if c.model != "" {
		args = append(args, "--model", c.model)
	}
	if text := c.d.Scenario.Opening.Instructions; text != "" {
		set, err := c.instructions(text)
		if err != nil {
			return err
		}
		args = append(args, "-c", set)
	}
	args = append(args, "--sandbox", c.sandbox, "--cd", c.d.Work, "--skip-git-repo-check")
	if len(c.d.Scenario.Schema) > 0 {
		file, err := c.writeFile("schema.json", c.d.Scenario.Schema)
		if err != nil {
			return err
		}
		args = append(args, "--output-schema", file)
	}
	if c.thread != "" {
		args = append(args, "resume", c.thread)
	}
	for _, f := range s.Files { // the option takes all that follows it
		args = append(args, "--image", c.d.Path(f))
	}
	c.begun, c.retries = false, false
	return c.Spawn(s, args, nil)
}

// set sets the model or the mode of the next process.
func (c *client) set(_ context.Context, s fixtures.Step) error {
	value := s.ValueFor(name, c.d.Version)
	if s.What == "model" {
		c.model = value
		return nil
	}
	cfg, err := codex.ConfigFor(c.d.Version, value, nil)
	c.sandbox = cfg.Sandbox()
	return err
}

// Operations implements drive.Client.
func (c *client) Operations() map[*op.Op]drive.Operation {
	return map[*op.Op]drive.Operation{
		op.SetModel: c.set,
		op.SetMode:  c.set,
	}
}

// instructions is the setting that gives the model instructions: in addition to the runtime's
// own, or in a file in their place.
func (c *client) instructions(text string) (string, error) {
	if !c.d.Scenario.Opening.ReplaceInstructions {
		return "developer_instructions=" + string(wire.Quote(text)), nil
	}
	file, err := c.writeFile("instructions.md", []byte(text))
	return "model_instructions_file=" + string(wire.Quote(file)), err
}

// writeFile writes a file that an option names, outside of the workspace.
func (c *client) writeFile(name string, data []byte) (path string, err error) {
	path = filepath.Join(wire.Getenv(c.d.Env, "TMPDIR"), name)
	return path, os.WriteFile(path, data, 0o600)
}

// Stop implements drive.Client. A process that has not begun its turn has no thread yet.
func (c *client) Stop(context.Context) error {
	if err := c.d.Until("the start of the turn", func() bool { return c.begun }); err != nil {
		return err
	}
	return c.d.Signal(proc.SIGTERM)
}

// Read implements drive.Client.
func (c *client) Read(b []byte) {
	l := c.d.Runtime.Wire.ReadOutput(b)
	if l.Opened != "" {
		c.thread = l.Opened
	}
	if l.Kind == wire.TurnStart {
		c.begun = true
	}
	if c.d.Runtime.Wire.ReadStatement(b).Notice == wire.NoticeRetry {
		c.retries = true
	}
	c.calls.read(l, b)
}

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.calls.started[id] }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.calls.completed[id] }

// Streams implements drive.Client.
func (c *client) Streams() bool { return c.d.Alive() }

// Retries implements drive.Client.
func (c *client) Retries() bool { return c.retries }
