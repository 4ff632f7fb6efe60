// Package codexexec drives `codex exec --json` for the recorder. Each message
// starts a process, which reads the message from stdin and exits after its turn.
// The runtime cannot ask, and a stop is a signal.
package codexexec

import (
	"context"
	"errors"
	"os"
	"path/filepath"

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
	drive.Unsupported
	d       *drive.Driver
	cfg     codex.Config
	thread  string
	calls   calls
	queue   []fixtures.Step // messages that wait for the end of the turn
	message string          // of the last process
	begun   bool            // that process has begun its turn
	retries bool            // it has announced another request to the model
	ended   map[string]bool
}

func newCodexExec(d *drive.Driver) (drive.Client, error) {
	cfg, err := codex.ConfigFor(d.Version, d.Scenario.InitialMode(), d.Scenario.Needs)
	return &client{Unsupported: name, d: d, cfg: cfg, calls: callsOf(d.Scenario, d.Version), ended: map[string]bool{}}, err
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

// Send implements drive.Client. The runtime has no queue, so a message waits for
// the end of the turn.
func (c *client) Send(_ context.Context, s fixtures.Step) error {
	if s.What != "" {
		return c.Error("sends a message with a priority")
	}
	c.queue = append(c.queue, s)
	return c.Poll()
}

// Poll implements drive.Poller. It starts a process for the next message when the one before
// it has exited.
func (c *client) Poll() error {
	if c.d.Alive() {
		return nil
	}
	c.ended[c.message] = true
	if len(c.queue) == 0 {
		return nil
	}
	s := c.queue[0]
	c.queue = c.queue[1:]
	return c.start(s)
}

// start starts the process of a message.
func (c *client) start(s fixtures.Step) error {
	args := append([]string{"exec", "--json"}, c.cfg.Args(c.d.Model.URL())...)
	args = append(append(args, codex.ServerArgs(c.d.Scenario)...), codex.OptionArgs(c.d)...)
	if model := c.d.Scenario.OpenModel(name); model != "" {
		args = append(args, "--model", model)
	}
	if text := c.d.Scenario.Opening.Instructions; text != "" {
		set, err := c.instructions(text)
		if err != nil {
			return err
		}
		args = append(args, "-c", set)
	}
	args = append(args, "--sandbox", c.cfg.Sandbox(), "--cd", c.d.Work, "--skip-git-repo-check")
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
	c.message, c.begun, c.retries = s.ID, false, false
	if err := c.d.Spawn(args, nil); err != nil {
		return err
	}
	return c.d.WriteAll(s.Text)
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
	c.calls.read(b)
}

// Asks implements drive.Client.
func (c *client) Asks(string) bool { return false }

// ShowsInput implements drive.Client.
func (c *client) ShowsInput(string) bool { return true }

// ShowsTool implements drive.Client.
func (c *client) ShowsTool(id string) bool { return c.calls.started[id] }

// ShowsResult implements drive.Client.
func (c *client) ShowsResult(id string) bool { return c.calls.completed[id] }

// ShowsOutput implements drive.Client.
func (c *client) ShowsOutput(string) bool { return false }

// Settled implements drive.Client.
func (c *client) Settled(bool) bool { return true }

// Streams implements drive.Client.
func (c *client) Streams() bool { return c.d.Alive() }

// TaskEnded implements drive.Client.
func (c *client) TaskEnded(string) bool { return false }

// Idle implements drive.Client.
func (c *client) Idle() bool { return !c.d.Alive() && len(c.queue) == 0 }

// Ended implements drive.Client. A turn ends with its process, because the last
// lines of the turn come before.
func (c *client) Ended(message string) bool { return c.ended[message] }

// Retries implements drive.Client.
func (c *client) Retries() bool { return c.retries }

// Texts implements drive.Client. Texts come whole, after their reply, so that no hold after
// a part of one is reached. An empty one lets a hold before the first part be reached.
func (c *client) Texts() []*drive.Text { return []*drive.Text{{}} }
